// Which runs of a benchmark are marked as disturbed; what makes a machine unfit is told by machine-conditions.test.ts.
import { expect, test, vi } from 'vitest';
import { createMetrics } from '../../../app/metrics/service.ts';
import type { BenchmarkState, ModelId, Run, TurnEvent } from '../../../app/protocol/index.ts';
import { open } from '../store/support.ts';

const machine = vi.hoisted(() => ({ busy: false }));
vi.mock('../../../app/metrics/machine-conditions.ts', () => ({
  readConditions: () => ({ battery: false, hot: false, busy: machine.busy }),
}));

const usage = { promptTokens: 40, cachedTokens: 0, thinkingTokens: 0, answerTokens: 12 };
const timings = { firstTokenMs: 5, prefillMs: 4, decodeMs: 8, thinkingMs: 0, totalMs: 13, tokensPerSecond: 90 };

test.each([
  ['busy before it began', true, false, true],
  ['busy by its own work only', false, true, false],
])('on a machine that was %s', async (_, before, during, disturbed) => {
  const { db } = await open();
  const runs: Run[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { handlers } = createMetrics({
    db,
    engine: '1',
    now: () => 1,
    newId: () => 'batch',
    emit: (name, payload) => {
      if (name === 'run.added') runs.push(payload as Run);
      if (name === 'benchmark' && (payload as BenchmarkState).status !== 'running') end();
    },
    ask: ({ onEvent }) => {
      machine.busy = during;
      const events = [
        { type: 'started', model: 'a', backEnd: 'cpu' },
        { type: 'finished', reason: 'length', usage, timings },
      ] as TurnEvent[];
      queueMicrotask(() => events.forEach(onEvent));
      return { model: 'Starter' };
    },
  });
  machine.busy = before;
  handlers['benchmark.start']({ modelIds: ['a' as ModelId] });
  await ended;
  expect(runs.map((run) => run.disturbed)).toEqual(Array.from({ length: 5 }, () => disturbed));
});
