// Which answers of a benchmark are kept and told, with which figures.
import { expect, test } from 'vitest';
import type { Run } from '../../../app/protocol/index.ts';
import { benchmarkOf } from './benchmark-of.ts';

const usage = { promptTokens: 40, cachedTokens: 4, thinkingTokens: 2, answerTokens: 12 };
const timings = { firstTokenMs: 5, prefillMs: 4, decodeMs: 8, thinkingMs: 0, totalMs: 13, tokensPerSecond: 90 };
const stats = { atMs: 3, phase: 'answer', tokensPerSecond: 90, tokens: 4, memoryBytes: 7e8 };

const done = { type: 'finished', reason: 'length', usage, timings };

/** A benchmark of which the answers end in these ways, one after the other. */
const benchmarked = (...ends: object[]) =>
  benchmarkOf((close) => {
    const last = ends.shift() ?? done;
    if ('reason' in last && last.reason === 'cancelled') close();
    return [
      { type: 'started', model: 'a', backEnd: 'vulkan' },
      { type: 'stats', sample: stats },
      { type: 'delta', kind: 'answer', text: 'a', tokens: 1 },
      { type: 'delta', kind: 'answer', text: 'b', tokens: 1 },
      last,
    ];
  });

test('five answers are kept, the warm-up is not; each is told with its figures, as they stand in the list and the file', async () => {
  const { state, runs, handlers } = await benchmarked();
  expect(state).toEqual({ status: 'idle' });
  expect(runs).toHaveLength(5);
  expect(runs[0]).toMatchObject({ batch: 'batch', messageId: null, chatId: null, at: 77, engine: '1.2' });
  expect(runs[0]).toMatchObject({ model: 'Starter', backEnd: 'vulkan', memoryBytes: 7e8, tokens: 14, cachedTokens: 4 });
  expect(runs[0]?.curve).toEqual([[expect.any(Number), expect.any(Number)]]);
  expect(await handlers['metrics.runs']({ limit: 2 })).toHaveLength(2);
  expect(await handlers['metrics.runs']({ limit: 20 })).toEqual(runs.toReversed());
  const { decode } = runs[0] as Run;
  const file = await handlers['metrics.export']();
  expect(file.split('\r\n').at(-2)).toContain(',Starter,vulkan,1.2,40,4,14,');
  expect(file).toContain(`,${decode},5,700000000,`);
});

test('an answer that was cancelled is not kept, one that failed ends the benchmark with what failed', async () => {
  const stopped = await benchmarked(done, done, { ...done, reason: 'cancelled' });
  expect([stopped.state, stopped.runs.length]).toEqual([{ status: 'idle' }, 1]);
  const failure = { code: 'engine-lost', message: '[engine] ended' };
  const broken = await benchmarked(done, done, done, { type: 'failed', failure });
  expect([broken.state, broken.runs.length]).toEqual([
    { status: 'failed', failure: expect.objectContaining(failure) },
    2,
  ]);
});
