//  Language-specific rules for questions and statements, chosen by the language of the question: documents are
//  usually asked in their own language, and a single sentence is too short to detect it.

export type Language = {
  code: string;
  /** Stop words and question words, case-folded like the index. */
  common: ReadonlySet<string>;
  /** The stem of a word. */
  stem(word: string): string;
  /** Has compounds ("Kündigungsfrist"): a part of a word matches it. */
  compounds: boolean;
  /** Capitalised words within a sentence are always names. */
  capitals: boolean;
  /** Patterns of expected answer types, and of statements that contain them. The first match applies. */
  kinds: readonly (readonly [asked: RegExp, there: RegExp])[];
  /** Removed from questions in scripts without spaces between words. */
  asking: RegExp | null;
};

export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Cuts the first ending that leaves enough of a word. */
export const without = (endings: readonly string[], least: number) => (word: string) => {
  const ending = endings.find((one) => word.endsWith(one) && word.length - one.length >= least);
  return ending === undefined ? word : word.slice(0, -ending.length);
};
