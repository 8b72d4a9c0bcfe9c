import type { StoredPassage } from '../../store/documents/chunks.ts';
import type { Range } from '../chunk/sentence-splitter.ts';

/** A statement of a passage with its score. `also`: one passage of each other document that says the same; `known`: cosine of the
 *  question and the nearest known one that the statement answers (known-questions.ts). */
export type Scored = {
  passage: StoredPassage;
  score: number;
  statement: Range;
  features: number[];
  also?: StoredPassage[];
  known?: number;
};
