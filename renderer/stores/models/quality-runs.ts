import type { ModelId, QualityRun } from '../../../app/protocol/index.ts';

export type QualityRuns = {
  /** The tests of models that have been asked for, the newest first. */
  runs: Record<ModelId, QualityRun[]>;
  /** The test under way, of whichever model. */
  current: QualityRun | null;
};

/** The same after a test has begun or changed. */
export function withRun({ runs, current }: QualityRuns, run: QualityRun): QualityRuns {
  const known = runs[run.modelId];
  const running = run.state.status === 'running';
  return {
    current: running ? run : current?.id === run.id ? null : current,
    // Of others the whole list is asked for when they are shown.
    runs: known ? { ...runs, [run.modelId]: placed(known, run) } : runs,
  };
}

const placed = (known: readonly QualityRun[], run: QualityRun): QualityRun[] =>
  known.some(({ id }) => id === run.id) ? known.map((one) => (one.id === run.id ? run : one)) : [run, ...known];
