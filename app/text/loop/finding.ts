import type { LoopEvidence } from '../../protocol/index.ts';
import type { Sensitivity } from './levels.ts';
import type { Features } from './score.ts';

/** A card asks what to do; a quiet line only mentions similar lines, since they may be intended. */
export type Degree = 'card' | 'quiet';

/** A finding of the detector; fields as in the protocol's LoopEvidence. */
export type Finding = Omit<LoopEvidence, 'savedTokens'> & {
  readonly degree: Degree;
};

export interface GuardOptions {
  readonly sensitivity: Sensitivity;
  readonly inAnswers: boolean;
  /** The user's message: an answer that repeats it may have been asked to. */
  readonly asked?: readonly number[];
  /** The same as text. */
  readonly question?: string;
}

/** A finding of one of the signals. */
export type Candidate = Pick<Finding, 'kind' | 'degree' | 'repeats' | 'periodTokens' | 'startToken'> & {
  /** Start of the copy to show; by default the first one. */
  quote?: number;
};

/** Share of a copy that counts as all of it. */
export const ALL = 0.98;

/** A line of prose that repeats exactly except for the number in front. */
export const isNumbered = ({ lines, same, prose, repeated }: Features): boolean =>
  lines <= 1 && Math.min(same, prose, repeated) >= ALL;
