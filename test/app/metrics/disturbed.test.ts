// Which runs of a benchmark are marked as disturbed; what makes a machine unfit is told by machine-conditions.test.ts.
import { expect, test, vi } from 'vitest';
import { benchmarkOf } from './benchmark-of.ts';

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
  machine.busy = before;
  const { runs } = await benchmarkOf(() => {
    machine.busy = during;
    return [
      { type: 'started', model: 'a', backEnd: 'cpu' },
      { type: 'finished', reason: 'length', usage, timings },
    ];
  });
  expect(runs.map((run) => run.disturbed)).toEqual(Array.from({ length: 5 }, () => disturbed));
});
