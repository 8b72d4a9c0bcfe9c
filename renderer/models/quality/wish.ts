import {
  MAX_QUALITY_TEXT,
  type ModelId,
  type QualityKind,
  type QualityReference,
  type QualityTest,
  type ReadingMetric,
} from '../../../app/protocol/index.ts';

/** What somebody has chosen for a test, whichever parts of it the test needs. */
export type Wish = {
  /** A file of the user's; null: the manual, or no questions yet. */
  file: { name: string; text: string } | null;
  limit: number | null;
  /** The model to compare with; null: a file of predictions. */
  other: ModelId | null;
  path: string;
  lengths: string;
  depths: string;
  metric: ReadingMetric;
  longest: number;
  /** Of a question about a text. */
  answerTokens: number;
  problems: number;
  maxTokens: number;
};

export const USUAL: Omit<Wish, 'other'> = {
  file: null,
  limit: 8192,
  path: '',
  lengths: '512, 1024, 2048',
  depths: '0, 25, 50, 75, 100',
  metric: 'f1',
  longest: 8192,
  answerTokens: 64,
  problems: 12,
  maxTokens: 1024,
};

/** Tokens of a text. */
export const LIMITS = [2048, 8192, 32_768, null] as const;

/** Null while something is missing or cannot be. */
export function testOf(kind: QualityKind, wish: Wish): QualityTest | null {
  switch (kind) {
    case 'perplexity':
      return { kind, text: textOf(wish), limit: limitOf(wish) };
    case 'divergence': {
      const reference = referenceOf(wish);
      // Such a file was made from the whole text.
      const limit = reference?.from === 'file' ? null : limitOf(wish);
      return reference && { kind, text: textOf(wish), limit, reference };
    }
    case 'choices':
      return wish.file && { kind, name: wish.file.name, questions: wish.file.text };
    case 'reading': {
      const { file, metric, longest, answerTokens: maxTokens } = wish;
      return file && { kind, name: file.name, questions: file.text, metric, longest, maxTokens };
    }
    case 'needle': {
      const lengths = numbersOf(wish.lengths, 64, 262_144, 8);
      const depths = numbersOf(wish.depths, 0, 100, 11);
      return lengths && depths && { kind, lengths, depths, seed: 1 };
    }
    case 'reasoning':
      return { kind, problems: wish.problems, maxTokens: wish.maxTokens, seed: 1 };
  }
}

const textOf = ({ file }: Wish): Extract<QualityTest, { kind: 'perplexity' }>['text'] =>
  file ? { source: 'file', ...file } : { source: 'manual' };

/** The manual is short. */
const limitOf = ({ file, limit }: Wish): number | null => (file ? limit : null);

function referenceOf({ other, path }: Wish): QualityReference | null {
  if (other !== null) return { from: 'model', modelId: other };
  return path.trim() === '' ? null : { from: 'file', path: path.trim() };
}

/** Whole numbers between commas or blanks, each once and in order; null if one of them is none, or there are too many. */
export function numbersOf(text: string, min: number, max: number, most: number): number[] | null {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '');
  const numbers = [...new Set(parts.map(Number))].sort((a, b) => a - b);
  const fits = numbers.every((one) => Number.isInteger(one) && one >= min && one <= max);
  return fits && numbers.length > 0 && numbers.length <= most ? numbers : null;
}

/** A file as text; null for one that is too large. */
export async function readFile(file: File): Promise<{ name: string; text: string } | null> {
  if (file.size > 4 * MAX_QUALITY_TEXT) return null;
  const text = await file.text();
  return text.length > MAX_QUALITY_TEXT ? null : { name: file.name.slice(0, 255), text };
}
