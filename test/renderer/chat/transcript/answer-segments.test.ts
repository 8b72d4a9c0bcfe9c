import { expect, test } from 'vitest';
import type { ToolUse } from '../../../../app/protocol/index.ts';
import { marksIn, segmentsOf } from '../../../../renderer/chat/transcript/answer-segments.ts';
import { answerAsMarkdown } from '../../../../renderer/commands/export.ts';
import { argumentsLine, argumentsText } from '../../../../renderer/lib/tool-arguments.ts';
import { newMessage } from '../../../support/fakes/world.ts';

const use = (step: number, textAt: number, change: Partial<ToolUse> = {}): ToolUse => ({
  id: `${step}.${textAt}` as ToolUse['id'],
  name: 'clock',
  arguments: '{}',
  result: 'late',
  pictures: [],
  state: { status: 'done', ms: 1 },
  step,
  textAt,
  thinkingAt: 0,
  ...change,
});
const message = (text: string, toolUses: ToolUse[]) => newMessage('c' as never, 'assistant', { text, toolUses });

test('an answer is cut where its calls are, and calls of a step stay together', () => {
  const answer = message('abc', [use(0, 1), use(0, 1, { name: 'other' }), use(1, 2)]);
  const cut = segmentsOf(answer).map(({ from, to, uses }) => [from, to, uses.length]);
  expect(cut).toEqual([
    [0, 1, 2],
    [1, 2, 1],
    [2, 3, 0],
  ]);
  expect(segmentsOf(message('abc', []))).toEqual([{ from: 0, to: 3, uses: [] }]);
  // Text that was taken back after the call was stored.
  expect(segmentsOf(message('a', [use(0, 5)])).at(-1)).toMatchObject({ from: 1, to: 1 });
});

test('marks of sentences move with their stretch', () => {
  const marks = [{ end: 1 }, { end: 2 }, { end: 3 }];
  expect(marksIn(marks, { from: 1, to: 3, uses: [] })).toEqual([{ end: 1 }, { end: 2 }]);
});

test('what is exported has the calls, with results that cannot leave their fence', () => {
  const answer = message('Look.\n\nDone.', [
    use(0, 7, { arguments: '{"zone":"a`b"}', result: '```\n# no heading\n```' }),
  ]);
  expect(answerAsMarkdown(answer, () => '')).toBe(
    'Look.\n\n- **clock** `a´b`\n\n````\n```\n# no heading\n```\n````\n\nDone.',
  );
});

test('arguments in one line and in full', () => {
  expect(argumentsLine('{"expression":"1 +\\n 2"}')).toBe('1 + 2');
  expect(argumentsLine('{"city":"Berlin","days":3}')).toBe('city: Berlin, days: 3');
  expect([argumentsLine('{}'), argumentsLine('no json')]).toEqual(['', 'no json']);
  expect(argumentsText('{"code":"a\\nb"}')).toBe('a\nb');
  expect(argumentsText('{"days":3}')).toBe('{\n  "days": 3\n}');
});
