import { Tokenizer as Encoder } from '@huggingface/tokenizers';
import { z } from 'zod';
import { LonghandError } from '../../protocol/errors.ts';
import { type ByteMap, bytesOfTokens } from './byte-decoder.ts';
import { type Guarded, guard } from './guard.ts';
import { broken, demandModest } from './limits.ts';
import { indexOfWords } from './word-index.ts';

/** A part of a prompt. Only ids may contain markers (control and other added tokens): text never becomes one. */
export type Segment = { readonly ids: readonly number[] } | { readonly text: string };

/** An added token: `special` ones (end of turn, ...) are never shown, others (`<think>`) are words of a protocol. */
export type Marker = {
  readonly id: number;
  readonly text: string;
  readonly special: boolean;
  readonly stripLeft: boolean;
  readonly stripRight: boolean;
};

export type Tokenizer = {
  readonly markers: readonly Marker[];
  /** Number of ids in use. A model may have more rows: padding, never sampled. */
  readonly size: number;
  idOf(text: string): number | undefined;
  markerOf(id: number): Marker | undefined;
  /** Encodes plain text. Text of added tokens inside it stays text. `first`: at the start of the input. */
  encodeText(text: string, first?: boolean): number[];
  encode(segments: readonly Segment[]): number[];
  /** Splits text: pieces with an odd index are text of markers. */
  cut(text: string): string[];
  /** Splits text in which the text of added tokens means the token (`tokenize`, raw prompts). */
  split(text: string): Segment[];
  /** Ids around a whole input ([CLS] … [SEP] for encoders), or a BOS. */
  readonly around: { readonly before: readonly number[]; readonly after: readonly number[] };
  /** UTF-8 bytes that an id adds to the text; markers add their own text. */
  readonly bytes: ByteMap;
};

/** No vocabulary is near two million; a larger id would only be memory. */
const Id = z
  .number()
  .int()
  .nonnegative()
  .max(2 ** 21);

const AddedTokens = z.array(
  z.object({
    id: Id,
    content: z.string(),
    special: z.boolean().default(false),
    lstrip: z.boolean().default(false),
    rstrip: z.boolean().default(false),
  }),
);

const Component = z.looseObject({ type: z.string().nullish() }).nullish();
/** The parts of tokenizer.json that are read here; the rest is the library's business. */
export const TokenizerJson = z.looseObject({
  added_tokens: AddedTokens.nullish().transform((tokens) => tokens ?? []),
  normalizer: Component,
  pre_tokenizer: Component,
  post_processor: Component,
  decoder: Component,
  model: z.looseObject({
    type: z.string().nullish(),
    vocab: z.union([z.record(z.string(), Id), z.array(z.unknown())]),
    merges: z.array(z.unknown()).nullish(),
  }),
});
export type TokenizerJson = z.input<typeof TokenizerJson>;

/** The library's class, as far as it is used (its own declarations do not resolve under NodeNext). */
type Library = Guarded & {
  /** Told how long the text is before it is read. */
  expect(characters: number): void;
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  token_to_id(token: string): number | undefined;
  normalizer: ((text: string) => string) | null;
  pre_tokenizer: unknown;
  model: { vocab: (string | undefined)[] };
};
type LibraryClass = new (json: object, config: object) => Library;

/** Builds a tokenizer from the object in tokenizer.json (or one made from GGUF metadata).
 *  @throws LonghandError `model-broken` when the file is malformed or uses something unknown. */
export function createTokenizer(source: unknown): Tokenizer {
  const parsed = TokenizerJson.safeParse(source);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw broken(`tokenizer.json: ${issue?.path.join('.') || 'top level'}: ${issue?.message ?? 'malformed'}`);
  }
  const json = parsed.data;
  demandModest(json);
  const markers = json.added_tokens.filter((token) => isMarker(token.content)).map(markerFrom);
  const library = load(json);
  const { around, tokens } = aroundOf(library, json.post_processor !== null && json.post_processor !== undefined);
  const later = laterPieces(json, library);

  const byId = new Map(markers.map((marker) => [marker.id, marker]));
  const byText = new Map(markers.map((marker) => [marker.text, marker]));
  const cut = splitterOf(markers);

  const encodeText = (text: string, first = true): number[] => {
    if (text === '') return [];
    const encoder = first ? library : later;
    encoder.expect(text.length);
    return encoder.encode(text.toWellFormed(), { add_special_tokens: false }).ids.filter(isId);
  };

  const split = (text: string): Segment[] => {
    const pieces = cut(text);
    const out: Segment[] = [];
    for (const [i, piece] of pieces.entries()) {
      const marker = i % 2 === 1 ? byText.get(piece) : undefined;
      if (marker) {
        out.push({ ids: [marker.id] });
        continue;
      }
      const [before, after] = [byText.get(pieces[i - 1] ?? ''), byText.get(pieces[i + 1] ?? '')];
      const left = before?.stripRight ? piece.trimStart() : piece;
      const text = after?.stripLeft ? left.trimEnd() : left;
      if (text !== '') out.push({ text });
    }
    return out;
  };

  return {
    markers,
    size: tokens,
    idOf: (text) => byText.get(text)?.id ?? library.token_to_id(text),
    markerOf: (id) => byId.get(id),
    encodeText,
    encode: (segments) => {
      const ids: number[] = [];
      for (const segment of joined(segments)) {
        if ('ids' in segment) for (const id of segment.ids) ids.push(id);
        else for (const id of encodeText(segment.text, ids.length === 0)) ids.push(id);
      }
      return ids;
    },
    cut,
    split,
    around,
    bytes: bytesOfTokens(library.model.vocab, json, byId),
  };
}

/** White space listed as added tokens (runs of newlines, ...) is text like any other. */
const isMarker = (content: string): boolean => content.trim() !== '';
const isId = (id: number | undefined): id is number => id !== undefined;

function markerFrom(token: z.output<typeof AddedTokens>[number]): Marker {
  const { id, content, special, lstrip, rstrip } = token;
  return { id, text: content, special, stripLeft: lstrip, stripRight: rstrip };
}

/** Text of adjoining text segments is one text: merges must see across their border. */
function joined(segments: readonly Segment[]): Segment[] {
  const out: Segment[] = [];
  for (const segment of segments) {
    const last = out.at(-1);
    if ('text' in segment && last && 'text' in last) out[out.length - 1] = { text: last.text + segment.text };
    else out.push(segment);
  }
  return out;
}

/** Cuts a text at the markers, the longest where several begin: ["a", "<|im_end|>", "b"]. */
function splitterOf(markers: readonly Marker[]): (text: string) => string[] {
  const index = indexOfWords(markers.map((marker) => marker.text));
  return (text) => {
    const parts: string[] = [];
    let from = 0;
    for (let at = 0; at < text.length; ) {
      const length = index.lengthAt(text, at);
      if (length === 0) {
        at++;
        continue;
      }
      parts.push(text.slice(from, at), text.slice(at, at + length));
      at += length;
      from = at;
    }
    return [...parts, text.slice(from)];
  };
}

/** The library with only white-space added tokens, so that it can never find a marker in text. */
function load(json: z.output<typeof TokenizerJson>): Library {
  try {
    const Class = Encoder as unknown as LibraryClass;
    const whole = { ...defaults, ...json, added_tokens: json.added_tokens.filter((token) => !isMarker(token.content)) };
    const library = new Class(whole, { clean_up_tokenization_spaces: false });
    library.expect = guard(library);
    if (UNICODE_FORMS.includes(json.normalizer?.type ?? '')) library.normalizer = inPieces(library.normalizer);
    for (const token of json.added_tokens) library.model.vocab[token.id] ??= token.content;
    return library;
  } catch (error) {
    if (error instanceof LonghandError) throw error;
    throw broken(`tokenizer.json cannot be used: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

const UNICODE_FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD', 'BertNormalizer'];

/** Normalising n combining marks in a row takes n² steps; nobody writes 200. */
function inPieces(normalize: Library['normalizer']): Library['normalizer'] {
  if (!normalize) return null;
  return (text) => {
    if (!/\p{M}{200}/u.test(text)) return normalize(text);
    const pieces = text.match(/\P{M}+\p{M}{0,200}|\p{M}{1,200}/gu) ?? [];
    return pieces.map((piece) => normalize(piece)).join('');
  };
}

const defaults = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };

/** Metaspace with `prepend_scheme: first` marks only the beginning of the whole text: pieces after a marker need an
 *  encoder without the prefix. It shares the vocabulary. */
function laterPieces(json: z.output<typeof TokenizerJson>, library: Library): Library {
  const pre = json.pre_tokenizer;
  if (pre?.type !== 'Metaspace' || pre.prepend_scheme !== 'first') return library;
  const empty = { type: 'BPE', vocab: {}, merges: [] };
  const other = load({ ...json, pre_tokenizer: { ...pre, prepend_scheme: 'never' }, model: empty });
  other.model = library.model;
  return other;
}

/** What the post-processor puts around an empty text, and the number of ids. */
function aroundOf(library: Library, hasProcessor: boolean): Pick<Tokenizer, 'around'> & { tokens: number } {
  const tokens = library.model.vocab.length;
  if (!hasProcessor) return { around: { before: [], after: [] }, tokens };
  const probe = library.model.vocab.findIndex((token) => token !== undefined && /^[a-z]$/.test(token));
  const text = library.model.vocab[probe] ?? 'a';
  const plain = library.encode(text, { add_special_tokens: false }).ids.filter(isId);
  const whole = library.encode(text, { add_special_tokens: true }).ids.filter(isId);
  const at = whole.length - plain.length === 0 ? 0 : indexOfRun(whole, plain);
  if (at < 0) throw broken('post_processor: does not keep the text in one piece');
  return { around: { before: whole.slice(0, at), after: whole.slice(at + plain.length) }, tokens };
}

function indexOfRun(whole: readonly number[], run: readonly number[]): number {
  for (let at = 0; at + run.length <= whole.length; ++at) {
    if (run.every((id, i) => whole[at + i] === id)) return at;
  }
  return -1;
}
