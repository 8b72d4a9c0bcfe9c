import type * as Addon from '../../../native/addon/index.d.ts';

/** What is being done, in the order of a run. */
export type Stage = 'calibrating' | 'choosing' | 'writing' | 'converting' | 'loading' | 'measuring';

export type Progress = { show(done: number, total: number): void; end(): void };

/** What making a model needs of its surroundings: a terminal, or a process of the app. */
export type Workshop = {
  readonly addon: typeof Addon;
  /** The folder of the manual, whose pages calibrate and measure. */
  readonly manual: string;
  readonly signal: AbortSignal;
  /** The command that makes the same model, for its card. */
  readonly command: string;
  progress(stage: Stage): Progress;
};
