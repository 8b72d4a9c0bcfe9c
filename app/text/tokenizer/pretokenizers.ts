/** Pre-tokenization of byte-level BPE vocabularies, by GGUF's `tokenizer.ggml.pre`. */
export type Pretokenizer = { readonly normalizer: Component | null; readonly pre_tokenizer: Component };
type Component = { readonly type: string; readonly [field: string]: unknown };

const split = (regex: string) => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  ],
});
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const NFC = { type: 'NFC' };

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const SPACES = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
/** Letters with one leading character, digits according to `digits`, other characters, white space. */
const words = (digits: string) =>
  String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|${SPACES}`;
const wordsWithMarks = String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|${SPACES}`;

const qwen2: Pretokenizer = { normalizer: NFC, pre_tokenizer: split(words(String.raw`\p{N}`)) };
const llama3: Pretokenizer = { normalizer: null, pre_tokenizer: split(words(String.raw`\p{N}{1,3}`)) };
const gpt2: Pretokenizer = { normalizer: null, pre_tokenizer: byteLevel };
const singleDigits: Pretokenizer = {
  normalizer: null,
  pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel] },
};

export const PRETOKENIZERS: Readonly<Record<string, Pretokenizer>> = {
  qwen2,
  qwen35: { normalizer: NFC, pre_tokenizer: split(wordsWithMarks) },
  smollm: singleDigits,
  lfm2: llama3,
  'llama-bpe': llama3,
  llama3,
  'llama-v3': llama3,
  'gpt-2': gpt2,
};
