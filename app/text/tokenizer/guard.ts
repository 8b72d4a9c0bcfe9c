import { broken } from './limits.ts';
import { LinearPattern } from './linear-pattern.ts';
import { PRETOKENIZERS } from './pretokenizers.ts';
import { mostLikely, type UnigramModel } from './unigram.ts';

//  Guards a tokenizer against hostile files: patterns run in linear time, and results grow at most linearly.

/** A component of the library's tokenizer, as far as guarded here. */
type Part = {
  config?: { pattern?: { Regex?: string; String?: string }; content?: string };
  pattern?: RegExp | LinearPattern | null;
  normalize?(text: string): string;
  pre_tokenize_text?(text: string, options: unknown): string[];
  normalizers?: (Part | null)[];
  tokenizers?: (Part | null)[];
};
type Model = Partial<UnigramModel> & {
  encode(words: string[]): string[];
  max_input_chars_per_word?: number;
};
export type Guarded = { normalizer: unknown; pre_tokenizer: unknown; model: unknown };

/** Maximum growth of a text: NFKD expands a character to up to 18, bytes up to four. */
const GROWTH = 32;
const FREE = 65_536;

/** Patterns of supported families, known to run in linear time in JavaScript's own engine. */
const TRUSTED: ReadonlySet<string> = new Set(
  JSON.stringify(PRETOKENIZERS)
    .match(/"Regex":"(?:\\.|[^"\\])*"/g)
    ?.map((text) => JSON.parse(`{${text}}`).Regex),
);

/** @returns a function to call with the length of the next text. @throws LonghandError `model-broken` for an unsupported pattern */
export function guard(library: Guarded): (characters: number) => void {
  let most = FREE;
  const demand = (length: number) => {
    if (length > most) throw broken(`a part of it makes ${length} characters of a text, at most ${most} are allowed`);
  };
  guardNormalizer(library.normalizer as Part | null, demand);
  guardPretokenizer(library.pre_tokenizer as Part | null, demand);
  guardModel(library.model as Model);
  return (characters) => {
    most = FREE + GROWTH * characters;
  };
}

type Demand = (length: number) => void;

function guardNormalizer(part: Part | null, demand: Demand): void {
  if (!part) return;
  for (const inner of part.normalizers ?? []) guardNormalizer(inner, demand);
  const replaces = part.pattern !== undefined;
  takePattern(part);
  const normalize = part.normalize?.bind(part);
  if (!normalize || part.normalizers) return;
  part.normalize = (text) => {
    const result = replaces ? replaced(part, text, demand) : normalize(text);
    demand(result.length);
    return result;
  };
}

function guardPretokenizer(part: Part | null, demand: Demand): void {
  if (!part) return;
  for (const inner of part.tokenizers ?? []) guardPretokenizer(inner, demand);
  takePattern(part);
  const cut = part.pre_tokenize_text?.bind(part);
  if (!cut || part.tokenizers) return;
  const replaces = part.config?.content !== undefined && part.pattern !== undefined;
  // A component gets the words that the previous one has split, one by one.
  part.pre_tokenize_text = (text, options) => {
    const words = replaces ? [replaced(part, text, demand)] : cut(text, options);
    demand(words.reduce((sum, word) => sum + word.length, 0));
    return words;
  };
}

function takePattern(part: Part): void {
  const written = part.config?.pattern?.Regex;
  if (written === undefined || TRUSTED.has(written) || !(part.pattern instanceof RegExp)) return;
  try {
    part.pattern = new LinearPattern(part.pattern.source);
  } catch (error) {
    throw broken(
      `the pattern ${JSON.stringify(written.slice(0, 100))} cannot be used: ${(error as Error).message}`,
      error,
    );
  }
}

/** Inserts the content verbatim: JavaScript would interpret "$&". */
function replaced({ pattern, config }: Part, text: string, demand: Demand): string {
  if (!pattern) return text;
  const content = config?.content ?? '';
  const parts: string[] = [];
  let from = 0;
  let length = 0;
  for (const { 0: found, index = 0 } of text.matchAll(pattern as RegExp)) {
    length += index - from + content.length;
    demand(length);
    parts.push(text.slice(from, index), content);
    from = index + found.length;
  }
  return parts.join('') + text.slice(from);
}

/** Maximum length of a word for WordPiece, which is quadratic in it. */
const MAX_WORD = 200;

function guardModel(model: Model): void {
  if (model.max_input_chars_per_word !== undefined) {
    model.max_input_chars_per_word = Math.min(Number(model.max_input_chars_per_word) || 0, MAX_WORD);
  }
  if (model.trie) model.encode = (words) => words.flatMap((word) => mostLikely(model as UnigramModel, word));
}
