// Which answers of a benchmark are kept and told, with which figures.
import { expect, test } from 'vitest';
import { createMetrics } from '../../../app/metrics/service.ts';
import type { BenchmarkState, ModelId, Run, TurnEvent } from '../../../app/protocol/index.ts';
import { open } from '../store/support.ts';

const usage = { promptTokens: 40, cachedTokens: 4, thinkingTokens: 2, answerTokens: 12 };
const timings = { firstTokenMs: 5, prefillMs: 4, decodeMs: 8, thinkingMs: 0, totalMs: 13, tokensPerSecond: 90 };
const stats = { atMs: 3, phase: 'answer', tokensPerSecond: 90, tokens: 4, memoryBytes: 7e8 };

/** A benchmark of which the answers end in these ways, one after the other. */
async function benchmarked(...ends: object[]) {
  const { db } = await open();
  const told: Run[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<BenchmarkState>();
  const { handlers, close } = createMetrics({
    db,
    engine: '1.2',
    now: () => 77,
    newId: () => 'batch',
    emit: (name, payload) => {
      if (name === 'run.added') told.push(payload as Run);
      if (name === 'benchmark' && (payload as BenchmarkState).status !== 'running') end(payload as BenchmarkState);
    },
    ask: ({ onEvent }) => {
      const last = ends.shift() ?? { type: 'finished', reason: 'length', usage, timings };
      if ('reason' in last && last.reason === 'cancelled') close();
      const events = [
        { type: 'started', model: 'a', backEnd: 'vulkan' },
        { type: 'stats', sample: stats },
        { type: 'delta', kind: 'answer', text: 'a', tokens: 1 },
        { type: 'delta', kind: 'answer', text: 'b', tokens: 1 },
        last,
      ] as TurnEvent[];
      void (async () => {
        for (const event of events) {
          // So that time passes between two tokens.
          await new Promise((done) => setTimeout(done, 1));
          onEvent(event);
        }
      })();
      return { model: 'Starter' };
    },
  });
  handlers['benchmark.start']({ modelIds: ['a' as ModelId] });
  return { state: await ended, told, handlers };
}
const done = { type: 'finished', reason: 'length', usage, timings };

test('five answers are kept, the warm-up is not; each is told with its figures, as they stand in the list and the file', async () => {
  const { state, told, handlers } = await benchmarked();
  expect(state).toEqual({ status: 'idle' });
  expect(told).toHaveLength(5);
  expect(told[0]).toMatchObject({ batch: 'batch', messageId: null, chatId: null, at: 77, engine: '1.2' });
  expect(told[0]).toMatchObject({ model: 'Starter', backEnd: 'vulkan', memoryBytes: 7e8, tokens: 14, cachedTokens: 4 });
  expect(told[0]?.curve).toEqual([[expect.any(Number), expect.any(Number)]]);
  expect(await handlers['metrics.runs']({ limit: 2 })).toHaveLength(2);
  expect(await handlers['metrics.runs']({ limit: 20 })).toEqual(told.toReversed());
  const { decode } = told[0] as Run;
  const file = await handlers['metrics.export']();
  expect(file.split('\r\n').at(-2)).toContain(',Starter,vulkan,1.2,40,4,14,');
  expect(file).toContain(`,${decode},5,700000000,`);
});

test('an answer that was cancelled is not kept, one that failed ends the benchmark with what failed', async () => {
  const stopped = await benchmarked(done, done, { ...done, reason: 'cancelled' });
  expect([stopped.state, stopped.told.length]).toEqual([{ status: 'idle' }, 1]);
  const failure = { code: 'engine-lost', message: '[engine] ended' };
  const broken = await benchmarked(done, done, done, { type: 'failed', failure });
  expect([broken.state, broken.told.length]).toEqual([
    { status: 'failed', failure: expect.objectContaining(failure) },
    2,
  ]);
});
