import type { StoredPassage } from '../../store/documents/chunks.ts';
import type { Range } from '../chunk/sentence-splitter.ts';

/** A statement of a passage with its score. `also`: one passage of each other document that says the same. */
export type Scored = {
  passage: StoredPassage;
  score: number;
  statement: Range;
  features: number[];
  also?: StoredPassage[];
};
