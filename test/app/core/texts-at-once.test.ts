// Many texts of one request are read in batches, so that who hangs up is heard in between.
import { expect, test } from 'vitest';
import { countAll, embedAll, rankAll } from '../../../app/core/texts-at-once.ts';
import type { GenerationService } from '../../../app/engine/client/generation-service.ts';

const target = { path: '/encoder', device: null, threads: null };

/** `most`: texts that the engine reads before it has something more urgent to do. */
function engineOf(most: number, heard = () => {}) {
  const batches: number[] = [];
  const ask = async (name: string, { texts = [], text = '' }: { texts?: string[]; text?: string }) => {
    batches.push(texts.length);
    heard();
    if (name === 'countText') return text.length;
    const lengths = texts.slice(0, most).map(({ length }) => length);
    return name === 'rank' ? { scores: lengths } : { vectors: lengths };
  };
  return { engine: { ask } as unknown as GenerationService, batches };
}

test.each([
  ['64 texts at most', Array(130).fill(1), 100, [64, 64, 2]],
  ['8,000 characters at most', [4000, 4000, 1, 4000, 4001], 100, [2, 2, 1]],
  ['a text at least, however long', [9000, 1, 9000], 100, [1, 1, 1]],
  ['again what the engine had no time for', Array(10).fill(1), 6, [10, 4]],
  ['nothing is asked for no texts', [], 100, []],
])('%s', async (_, lengths: number[], most, wanted) => {
  const { engine, batches } = engineOf(most);
  const texts = lengths.map((length) => 'x'.repeat(length));
  const { signal } = new AbortController();
  expect(await embedAll(engine, target, texts, 'query', signal)).toEqual(lengths);
  expect(batches).toEqual(wanted);
  expect(await rankAll(engine, target, 'why?', texts, signal)).toEqual(lengths);
  expect(batches.slice(wanted.length)).toEqual(wanted);
  expect(await countAll(engine, target, texts, signal)).toBe(lengths.reduce((sum, length) => sum + length, 0));
});

test('nothing more is read for a client that has hung up', async () => {
  const texts = ['a', 'b', 'c'].map((text) => text.repeat(8000));
  const works = [
    (engine: GenerationService, signal: AbortSignal) => embedAll(engine, target, texts, 'query', signal),
    (engine: GenerationService, signal: AbortSignal) => rankAll(engine, target, 'why?', texts, signal),
    (engine: GenerationService, signal: AbortSignal) => countAll(engine, target, texts, signal),
  ];
  for (const work of works) {
    const client = new AbortController();
    const { engine, batches } = engineOf(100, () => client.abort());
    await expect(work(engine, client.signal)).rejects.toMatchObject({
      code: 'cancelled',
      message: '[request] was ended before it was answered',
    });
    expect(batches).toHaveLength(1);
  }
});
