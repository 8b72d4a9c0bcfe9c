import { LonghandError } from '../../protocol/errors.ts';

//  A tokenizer.json is an untrusted program: patterns, replacements, tables. Sizes beyond all known ones are
//  refused before anything is built from it.

/** That of Qwen3, the largest of the tests, has 151,643 tokens of up to 128 characters, 151,387 merges, 26 added tokens of up to 20
 *  characters and 6 components; the vocabularies of the catalogue end at 248,320 tokens, with about as many merges. */
const MOST = {
  vocabulary: 400_000,
  /** Tokens and merges together: each takes 400 to 600 bytes in memory, all of them less than 400 MB. */
  entries: 640_000,
  added: 2 ** 18,
  addedCharacters: 4_000_000,
  blank: 10_000,
  blankCharacters: 100_000,
  token: 1024,
  /** Maximum token length of a unigram vocabulary, which considers all segmentations. */
  unigram: 128,
  marker: 256,
  components: 100,
  depth: 16,
  text: 10_000,
  charsmap: 8_000_000,
  list: 1000,
  /** Maximum replacement of a character. */
  content: 64,
  /** Characters looked at to find the merges of a scored vocabulary, which divides each token everywhere: 15 million in
   *  the largest known. */
  divided: 200_000_000,
};

export const broken = (message: string, cause?: unknown) =>
  new LonghandError('model-broken', `[tokenizer] ${message}`, cause === undefined ? {} : { cause });

type Parts = {
  readonly added_tokens: readonly { readonly content: string }[];
  readonly normalizer?: unknown;
  readonly pre_tokenizer?: unknown;
  readonly post_processor?: unknown;
  readonly decoder?: unknown;
  readonly model: {
    readonly type?: string | null | undefined;
    readonly vocab: Readonly<Record<string, number>> | readonly unknown[];
    readonly merges?: readonly unknown[] | null | undefined;
    readonly [key: string]: unknown;
  };
};

/** @throws LonghandError `model-broken`, naming the size and the limit */
export function demandModest(json: Parts): void {
  addedTokens(json.added_tokens);
  vocabulary(json.model);
  const seen = { components: 0 };
  for (const key of ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'] as const) {
    component(json[key], key, 0, seen);
  }
}

/** What a GGUF file lists, before anything is built from it. `divides`: merges are found by dividing every token.
 *  @throws LonghandError `model-broken`, naming the size and the limit */
export function demandModestList(tokens: readonly string[], divides: boolean): void {
  demand('tokens', tokens.length, MOST.vocabulary);
  for (const token of tokens) demand('characters of a token', token.length, MOST.token);
  const divided = tokens.reduce((sum, { length }) => sum + length * length, 0);
  if (divides) demand('characters of divided tokens', divided, MOST.divided);
}

/** How many merges a scored vocabulary may turn out to have, said before all of them are found. */
export const demandModestMerges = (merges: number): void => demand('merges', merges, MOST.entries);

function demand(what: string, came: number, most: number): void {
  if (came > most) throw broken(`${what}: got ${came}, at most ${most} are allowed`);
}

function addedTokens(tokens: Parts['added_tokens']): void {
  demand('added_tokens', tokens.length, MOST.added);
  const blank = tokens.filter(({ content }) => content.trim() === '');
  demand('added_tokens of white space', blank.length, MOST.blank);
  const characters = (some: Parts['added_tokens']) => some.reduce((sum, { content }) => sum + content.length, 0);
  demand('characters of added_tokens', characters(tokens), MOST.addedCharacters);
  demand('characters of added_tokens of white space', characters(blank), MOST.blankCharacters);
  for (const { content } of tokens) demand('characters of an added token', content.length, MOST.marker);
}

function vocabulary({ type, vocab, merges, ...model }: Parts['model']): void {
  const unigram = Array.isArray(vocab);
  const tokens = unigram ? vocab.map((entry: unknown) => (Array.isArray(entry) ? entry[0] : '')) : Object.keys(vocab);
  demand('model.vocab', tokens.length, MOST.vocabulary);
  const longest = type === 'Unigram' || unigram ? MOST.unigram : MOST.token;
  for (const token of tokens) demand('characters of a token in model.vocab', lengthOf(token), longest);
  demand('model.vocab and model.merges', tokens.length + (merges?.length ?? 0), MOST.entries);
  for (const merge of merges ?? []) {
    demand(
      'characters of a merge',
      Array.isArray(merge) ? merge.reduce(sumOf, 0) : lengthOf(merge),
      2 * MOST.token + 1,
    );
  }
  for (const [key, value] of Object.entries(model)) {
    if (typeof value === 'string') demand(`characters of model.${key}`, value.length, MOST.content);
  }
}

const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);
const sumOf = (sum: number, text: unknown): number => sum + lengthOf(text);

/** Fields of a component that are inserted once for every match. */
const INSERTED = new Set(['content', 'prepend', 'replacement', 'str_rep', 'prefix', 'suffix']);

function component(value: unknown, path: string, depth: number, seen: { components: number }): void {
  demand(`depth of ${path.slice(0, 60)}`, depth, MOST.depth);
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (typeof value === 'string') {
    demand(`characters of ${path}`, value.length, mostOf(name));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && typeof value.type === 'string')
    demand('parts of the tokenizer', ++seen.components, MOST.components);
  const entries = Object.entries(value);
  demand(`entries of ${path}`, entries.length, MOST.list);
  if ('type' in value && value.type === 'FixedLength') wholeLength(value as { length?: unknown }, path);
  for (const [key, inner] of entries) {
    component(inner, Array.isArray(value) ? path : `${path}.${key}`, depth + 1, seen);
  }
}

function mostOf(name: string): number {
  if (name === 'precompiled_charsmap') return MOST.charsmap;
  return INSERTED.has(name) ? MOST.content : MOST.text;
}

function wholeLength({ length }: { length?: unknown }, path: string): void {
  if (typeof length === 'number' && Number.isInteger(length) && length > 0) return;
  throw broken(`${path}.length: ${JSON.stringify(length)} came, expected a whole number from 1`);
}
