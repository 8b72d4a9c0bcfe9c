import type { Emit, Handlers, ModelId, TurnEvent } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import { addRun, listRuns, type Measured } from '../store/runs.ts';
import { createBenchmark } from './benchmark.ts';
import { csvOf } from './csv.ts';
import { readConditions } from './machine-conditions.ts';
import { createSpeedCurve } from './speed-curve.ts';
import { createTurnMetrics, type Ended, endOf } from './turn-metrics.ts';

export type MetricsOptions = {
  db: Database;
  emit: Emit;
  /** Version of the engine whose speed is measured. */
  engine: string;
  now: () => number;
  newId: () => string;
  /** Answers one prompt outside any chat. Exactly one `finished` or `failed` comes last. */
  ask: (run: { modelId: ModelId; prompt: string; signal: AbortSignal; onEvent: (event: TurnEvent) => void }) => {
    model: string;
  };
};

type Names =
  | 'metrics.runs'
  | 'metrics.export'
  | 'benchmark.start'
  | 'benchmark.cancel'
  | 'benchmark.state'
  | 'benchmark.conditions';

export type Metrics = {
  handlers: Pick<Handlers, Names>;
  measured(answer: Omit<Measured, 'batch' | 'at' | 'engine' | 'disturbed' | 'curve'>): void;
  close(): void;
};

const MOST = 20_000;

export function createMetrics({ db, emit, engine, now, newId, ask }: MetricsOptions): Metrics {
  const keep = (measured: Omit<Measured, 'at' | 'engine'>) => {
    const run = addRun(db, { ...measured, at: now(), engine });
    emit('run.added', run);
    return run;
  };

  /** Batches that began on battery, in heat, or under other load; checked at the start because later the load is our own. */
  const disturbedBatches = new Set<string>();
  const benchmark = createBenchmark({
    newBatch: newId,
    onState: (state) => emit('benchmark', state),
    measure: ({ modelId, prompt, batch, warmUp, signal }) => {
      if (warmUp && Object.values(readConditions()).includes(true)) disturbedBatches.add(batch);
      const metrics = createTurnMetrics();
      const curve = createSpeedCurve();
      return new Promise((resolve, reject) => {
        const { model } = ask({ modelId, prompt, signal, onEvent });
        function onEvent(event: TurnEvent) {
          try {
            metrics.see(event);
            curve.see(event);
            const end = endOf(event);
            if (end) resolve(warmUp || end.reason === 'cancelled' ? null : keep(rowOf(model, batch, end)));
          } catch (error) {
            reject(error);
          }
        }
      });

      function rowOf(model: string, inBatch: string, { usage, timings }: Ended): Omit<Measured, 'at' | 'engine'> {
        const figures = { model, backEnd: metrics.backEnd(), usage, timings, memoryBytes: metrics.memoryBytes() };
        const disturbed = disturbedBatches.has(inBatch);
        return { ...figures, batch: inBatch, messageId: null, chatId: null, disturbed, curve: curve.points() };
      }
    },
  });
  return {
    handlers: {
      'metrics.runs': ({ limit }) => listRuns(db, limit),
      'metrics.export': () => csvOf(listRuns(db, MOST)),
      'benchmark.start': ({ modelIds }) => benchmark.start(modelIds),
      'benchmark.cancel': () => benchmark.cancel(),
      'benchmark.state': () => benchmark.state(),
      'benchmark.conditions': () => readConditions(),
    },
    measured: (answer) => void keep({ ...answer, batch: null, disturbed: false, curve: [] }),
    close: benchmark.cancel,
  };
}
