import { createMetrics } from '../../../app/metrics/service.ts';
import type { BenchmarkState, ModelId, Run, TurnEvent } from '../../../app/protocol/index.ts';
import { open } from '../store/support.ts';

/** A benchmark of one model from start to end: `answer` gives the events of each answer, and may end all of it. */
export async function benchmarkOf(answer: (close: () => void) => object[]) {
  const { db } = await open();
  const runs: Run[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<BenchmarkState>();
  const { handlers, close } = createMetrics({
    db,
    engine: '1.2',
    now: () => 77,
    newId: () => 'batch',
    emit: (name, payload) => {
      if (name === 'run.added') runs.push(payload as Run);
      if (name === 'benchmark' && (payload as BenchmarkState).status !== 'running') end(payload as BenchmarkState);
    },
    ask: ({ onEvent }) => {
      const events = answer(close) as TurnEvent[];
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
  return { state: await ended, runs, handlers };
}
