import { type BenchmarkState, failureOf, LonghandError, type ModelId, type Run } from '../protocol/index.ts';

export type BenchmarkOptions = {
  /** One answer of fixed length; its figures are stored unless it is a warm-up. */
  measure(run: {
    modelId: ModelId;
    prompt: string;
    batch: string;
    warmUp: boolean;
    signal: AbortSignal;
  }): Promise<Run | null>;
  onState: (state: BenchmarkState) => void;
  newBatch: () => string;
};

export type Benchmark = {
  /** @throws LonghandError `conflict` while one runs */
  start(modelIds: readonly ModelId[]): void;
  cancel(): void;
  state(): BenchmarkState;
};

const RUNS = 5;

/** The same question each time; the number of the run comes first, so that the prompt cache never hits. */
const promptOf = (run: number) =>
  `Run ${run}. ${'The old mill by the river was sold in autumn, and its wheel, its ledger and its lantern went to the harbour. '.repeat(16)}Tell what happened, in many words.`;

/** One warm-up and five runs per model; two models are interleaved, so that disturbances affect both. */
export function createBenchmark({ measure, onState, newBatch }: BenchmarkOptions): Benchmark {
  let state: BenchmarkState = { status: 'idle' };
  let running: AbortController | null = null;

  function show(next: BenchmarkState) {
    state = next;
    onState(next);
  }

  async function run(modelIds: readonly ModelId[], { signal }: AbortController) {
    const batches = modelIds.map((modelId) => ({ modelId, batch: newBatch() }));
    const total = (RUNS + 1) * batches.length;
    let done = 0;
    for (let round = 0; round <= RUNS; round++) {
      for (const { modelId, batch } of batches) {
        if (signal.aborted) return;
        show({ status: 'running', modelId, done, total });
        await measure({ modelId, prompt: promptOf(++done), batch, warmUp: round === 0, signal });
      }
    }
  }

  return {
    start(modelIds) {
      if (running) throw new LonghandError('conflict', '[benchmark] a benchmark is already running');
      const control = new AbortController();
      running = control;
      run(modelIds, control)
        .then(() => ({ status: 'idle' }) as const)
        .catch((error) =>
          control.signal.aborted
            ? { status: 'idle' as const }
            : { status: 'failed' as const, failure: failureOf(error) },
        )
        .then((end) => {
          running = null;
          show(end);
        })
        .catch(console.error); // a failing listener must not end the core
    },
    cancel: () => running?.abort(),
    state: () => state,
  };
}
