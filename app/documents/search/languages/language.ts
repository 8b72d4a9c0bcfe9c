//  What differs from language to language in questions and statements. All of it is chosen by the question: documents are
//  asked in the language that they are written in, and a sentence is too short to tell.

export type Language = {
  code: string;
  /** Words of grammar and of asking, folded as the index folds them. */
  common: ReadonlySet<string>;
  /** A word without its endings: the same for its forms, not always a word. */
  stem(word: string): string;
  /** Words are joined into one ("Kündigungsfrist"): a part of a word stands for it. */
  compounds: boolean;
  /** Capitals within a sentence are names and nothing else. */
  capitals: boolean;
  /** What is asked for, and what a statement that has it holds. The first that fits counts. */
  kinds: readonly (readonly [asked: RegExp, there: RegExp])[];
  /** What is taken out of a question whose script puts no space between words. */
  asking: RegExp | null;
};

export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Cuts the first ending that leaves enough of a word. */
export const without = (endings: readonly string[], least: number) => (word: string) => {
  const ending = endings.find((one) => word.endsWith(one) && word.length - one.length >= least);
  return ending === undefined ? word : word.slice(0, -ending.length);
};
