import { expect, onTestFinished, test, vi } from 'vitest';
import type { McpServerId } from '../../../../app/protocol/index.ts';
import { type Blank, createSuggestions } from '../../../../renderer/chat/composer/suggestions.ts';

const blank = (value: string): Blank => ({
  serverId: 'mcp-1' as McpServerId,
  name: 'p',
  argument: 'a',
  value,
  given: {},
});

/** Answers stay open until the test gives them. */
function typing() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const shown: (readonly string[])[] = [];
  const asked: { value: string; signal: AbortSignal; answer: (values: string[]) => void; fail: () => void }[] = [];
  const suggestions = createSuggestions({
    ask: ({ value }, signal) =>
      new Promise((answer, reject) => asked.push({ value, signal, answer, fail: () => reject(new Error('no')) })),
    show: (found) => shown.push(found),
  });
  const type = (value: string, ms: number) => {
    suggestions.want(blank(value));
    return vi.advanceTimersByTimeAsync(ms);
  };
  return { suggestions, shown, asked, type, settle: () => vi.advanceTimersByTimeAsync(0) };
}

test('it is asked once typing pauses, not for each letter', async () => {
  const { asked, type } = typing();
  for (const value of ['L', 'Le', 'Let']) await type(value, 100);
  expect(asked).toEqual([]);
  await type('Lett', 200);
  expect(asked.map(({ value }) => value)).toEqual(['Lett']);
});

test('the answer to what was asked last is shown, whichever comes last', async () => {
  const { asked, shown, type, settle } = typing();
  await type('L', 200);
  await type('Li', 200);
  expect(asked[0]?.signal.aborted).toBe(true);
  asked[1]?.answer(['List', 'Li']);
  await settle();
  asked[0]?.answer(['Letter']);
  await settle();
  // What is typed already is no suggestion.
  expect(shown).toEqual([['List']]);
});

test('a failure shows nothing, and neither does what comes after the field was left', async () => {
  const { suggestions, asked, shown, type, settle } = typing();
  await type('L', 200);
  asked[0]?.fail();
  await settle();
  expect(shown.splice(0)).toEqual([[]]);
  await type('Li', 200);
  suggestions.clear();
  asked[1]?.answer(['List']);
  await settle();
  expect(shown.splice(0)).toEqual([[]]);
  await type('Lis', 100);
  suggestions.leave();
  await vi.advanceTimersByTimeAsync(500);
  expect([asked.length, shown]).toEqual([2, []]);
});

test('a long text is not sent to be completed', async () => {
  const { asked, shown, type } = typing();
  await type('x'.repeat(201), 500);
  expect([asked, shown]).toEqual([[], [[]]]);
});
