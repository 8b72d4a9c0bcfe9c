import { expect, test } from 'vitest';
import { createBenchmark } from '../../../app/metrics/benchmark.ts';
import type { BenchmarkState, ModelId } from '../../../app/protocol/index.ts';

//  What a benchmark asks of which model, and when; measured runs are those of runs.test.ts.

type Asked = { modelId: string; prompt: string; batch: string; warmUp: boolean };

function benchmark(measure: (asked: Asked, signal: AbortSignal) => void = () => {}) {
  const asked: Asked[] = [];
  const states: BenchmarkState[] = [];
  let batches = 0;
  let ended = (_: BenchmarkState) => {};
  const end = new Promise<BenchmarkState>((resolve) => {
    ended = resolve;
  });
  const made = createBenchmark({
    newBatch: () => `batch ${++batches}`,
    async measure({ signal, ...run }) {
      asked.push(run);
      measure(run, signal);
      return null;
    },
    onState(state) {
      states.push(state);
      if (state.status !== 'running') ended(state);
    },
  });
  return { ...made, asked, states, end };
}
const models = ['a', 'b'] as ModelId[];

test('two models take turns: a warm-up each, then five runs each, every time on the same words', async () => {
  const { start, end, asked, states } = benchmark();
  start(models);
  expect(await end).toEqual({ status: 'idle' });
  expect(asked.map(({ modelId }) => modelId).join('')).toBe('ab'.repeat(6));
  expect(asked.map(({ warmUp }) => warmUp)).toEqual([true, true, ...Array.from({ length: 10 }, () => false)]);
  const words = asked.map(({ prompt }) => prompt.replace(/^Run \d+\. /, ''));
  expect(new Set(words).size).toBe(1);
  expect(new Set(asked.map(({ prompt }) => prompt)).size).toBe(12);
  expect(new Set(asked.map(({ modelId, batch }) => `${modelId} ${batch}`))).toEqual(
    new Set(['a batch 1', 'b batch 2']),
  );
  expect(states.flatMap((state) => (state.status === 'running' ? state.done : []))).toEqual([...asked.keys()]);
});

test('cancelled, it asks nothing more; what fails is told, and it can be started again', async () => {
  const stopped = benchmark(() => stopped.asked.length === 3 && stopped.cancel());
  stopped.start(models);
  expect(await stopped.end).toEqual({ status: 'idle' });
  expect(stopped.asked).toHaveLength(3);

  const broken = benchmark(() => {
    throw new Error('no memory');
  });
  broken.start(models);
  expect(await broken.end).toMatchObject({ status: 'failed', failure: { message: 'no memory' } });
  broken.start(models);
  expect(() => broken.start(models)).toThrow('a benchmark is already running');
});
