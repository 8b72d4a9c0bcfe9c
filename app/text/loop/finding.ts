import type { LoopEvidence } from '../../protocol/index.ts';
import type { Sensitivity } from './levels.ts';
import type { Features } from './score.ts';

/** A card asks what to do; a quiet line only says that much is alike, since it may be wanted. */
export type Degree = 'card' | 'quiet';

/** What the guard knows; `text`, `startToken` and `endToken` as in the protocol's LoopEvidence. */
export type Finding = Omit<LoopEvidence, 'savedTokens'> & {
  readonly degree: Degree;
};

export interface GuardOptions {
  readonly sensitivity: Sensitivity;
  readonly inAnswers: boolean;
  /** What the user wrote: an answer that repeats it was perhaps asked to. */
  readonly asked?: readonly number[];
  /** The same as text. */
  readonly question?: string;
}

/** What one of the signals found. */
export type Candidate = Pick<Finding, 'kind' | 'degree' | 'repeats' | 'periodTokens' | 'startToken'> & {
  /** Where the copy that is shown begins; else the first one. */
  quote?: number;
};

/** So much of a copy is all of it. */
export const ALL = 0.98;

/** A line of prose again and again, the same to the letter but for the number before it. */
export const isNumbered = ({ lines, same, prose, repeated }: Features): boolean =>
  lines <= 1 && Math.min(same, prose, repeated) >= ALL;
