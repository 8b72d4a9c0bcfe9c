import { z } from 'zod';
import { LonghandError } from '../../protocol/errors.ts';
import { demandModestList, demandModestMerges } from './limits.ts';
import { PRETOKENIZERS } from './pretokenizers.ts';
import type { TokenizerJson } from './tokenizer.ts';

/** Token types of `tokenizer.ggml.token_type`. */
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;

const Id = z.number().int().nonnegative();
const Metadata = z.object({
  'tokenizer.ggml.model': z.enum(['gpt2', 'llama', 'bert']),
  'tokenizer.ggml.pre': z.string().default('gpt-2'),
  'tokenizer.ggml.tokens': z.array(z.string()).min(1),
  'tokenizer.ggml.token_type': z.array(z.number().int()).optional(),
  'tokenizer.ggml.scores': z.array(z.number()).optional(),
  'tokenizer.ggml.merges': z.array(z.string()).optional(),
  'tokenizer.ggml.bos_token_id': Id.optional(),
  'tokenizer.ggml.eos_token_id': Id.optional(),
  'tokenizer.ggml.eot_token_id': Id.optional(),
  'tokenizer.ggml.eom_token_id': Id.optional(),
  'tokenizer.ggml.unknown_token_id': Id.optional(),
  'tokenizer.ggml.cls_token_id': Id.optional(),
  'tokenizer.ggml.seperator_token_id': Id.optional(), // spelt so in the format
  'tokenizer.ggml.separator_token_id': Id.optional(),
  'tokenizer.ggml.add_bos_token': z.boolean().optional(),
  'tokenizer.ggml.add_space_prefix': z.boolean().optional(),
  'tokenizer.chat_template': z.string().optional(),
});
type Metadata = z.output<typeof Metadata>;

export type GgufText = {
  readonly tokenizer: TokenizerJson;
  readonly chatTemplate: string | null;
  readonly bos: number | null;
  readonly addBos: boolean;
  /** Ids that end generation according to the metadata. */
  readonly eos: readonly number[];
};

const broken = (message: string) => new LonghandError('model-broken', `[gguf] ${message}`);

/** Builds a tokenizer.json and related fields from a GGUF file's metadata.
 *  @throws LonghandError `model-broken`, naming the key. */
export function textFromGguf(source: Readonly<Record<string, unknown>>): GgufText {
  const parsed = Metadata.safeParse(source);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw broken(`${issue?.path.join('.') ?? 'metadata'}: ${issue?.message ?? 'malformed'}`);
  }
  const metadata = parsed.data;
  const kind = metadata['tokenizer.ggml.model'];
  demandModestList(metadata['tokenizer.ggml.tokens'], kind === 'llama');
  checkLists(metadata);
  const tokenizer =
    kind === 'gpt2' ? byteLevelBpe(metadata) : kind === 'llama' ? sentencePiece(metadata) : wordPiece(metadata);
  const { eos_token_id, eot_token_id, eom_token_id, bos_token_id, add_bos_token } = short(metadata);
  const bos = bos_token_id ?? null;
  return {
    tokenizer,
    chatTemplate: metadata['tokenizer.chat_template'] ?? null,
    bos,
    addBos: bos !== null && (add_bos_token ?? kind === 'llama'),
    eos: [...new Set([eos_token_id, eot_token_id, eom_token_id])].filter((id) => id !== undefined),
  };
}

type Short = { [Key in keyof Metadata as Key extends `tokenizer.ggml.${infer Name}` ? Name : never]: Metadata[Key] };
function short(metadata: Metadata): Short {
  const entries = Object.entries(metadata).map(([key, value]) => [key.replace('tokenizer.ggml.', ''), value]);
  return Object.fromEntries(entries) as Short;
}

function checkLists(metadata: Metadata): void {
  const { tokens, token_type, scores } = short(metadata);
  for (const [name, list] of Object.entries({ token_type, scores })) {
    if (list && list.length !== tokens.length) {
      throw broken(`tokenizer.ggml.${name} has ${list.length} entries, tokenizer.ggml.tokens ${tokens.length}`);
    }
  }
  for (const [name, id] of Object.entries(short(metadata))) {
    if (name.endsWith('_id') && typeof id === 'number' && id >= tokens.length) {
      throw broken(`tokenizer.ggml.${name} is ${id}, expected 0 to ${tokens.length - 1}`);
    }
  }
}

/** Ids by token; the first id of duplicates. */
function vocabulary(tokens: readonly string[]): Record<string, number> {
  const ids = new Map<string, number>();
  tokens.forEach((token, id) => {
    if (!ids.has(token)) ids.set(token, id);
  });
  return Object.fromEntries(ids);
}

function addedTokens({ tokens, token_type = [] }: Short, types: readonly number[]) {
  return tokens.flatMap((content, id) => {
    const type = token_type[id] ?? 0;
    if (!types.includes(type) || content === '') return [];
    return [added(id, content, type !== USER_DEFINED)];
  });
}

/** With every field: other readers of tokenizer.json refuse a file in which one is missing. */
const added = (id: number, content: string, special: boolean) => {
  return { id, content, special, single_word: false, lstrip: false, rstrip: false, normalized: false };
};

function byteLevelBpe(metadata: Metadata): TokenizerJson {
  const { tokens, merges, pre } = short(metadata);
  if (!merges) throw broken('tokenizer.ggml.merges is missing; a gpt2 vocabulary needs it');
  const style = Object.hasOwn(PRETOKENIZERS, pre) ? PRETOKENIZERS[pre] : undefined;
  if (!style) {
    throw broken(
      `tokenizer.ggml.pre is "${pre.slice(0, 60)}", expected one of ${Object.keys(PRETOKENIZERS).join(', ')}`,
    );
  }
  return {
    added_tokens: addedTokens(short(metadata), [CONTROL, USER_DEFINED]),
    ...style,
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: 'BPE', vocab: vocabulary(tokens), merges, ignore_merges: pre.startsWith('llama') },
  };
}

/** SentencePiece BPE has scores instead of merges: the priority of a merge is the score of the result. */
function sentencePiece(metadata: Metadata): TokenizerJson {
  const { tokens, scores, unknown_token_id, add_space_prefix = true } = short(metadata);
  if (!scores) throw broken('tokenizer.ggml.scores is missing; a llama vocabulary needs it');
  const vocab = vocabulary(tokens);
  const prefix = { type: 'Prepend', prepend: '▁' };
  const spaces = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
  return {
    added_tokens: addedTokens(short(metadata), [UNKNOWN, CONTROL, USER_DEFINED]),
    normalizer: { type: 'Sequence', normalizers: add_space_prefix ? [prefix, spaces] : [spaces] },
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(add_space_prefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      type: 'BPE',
      vocab,
      merges: mergesFromScores(tokens, scores, vocab),
      unk_token: tokens[unknown_token_id ?? 0],
      byte_fallback: true,
      fuse_unk: true,
    },
  };
}

function mergesFromScores(
  tokens: readonly string[],
  scores: readonly number[],
  vocab: Readonly<Record<string, number>>,
): [string, string][] {
  const merges: { left: string; right: string; score: number; order: number }[] = [];
  tokens.forEach((token, id) => {
    const characters = Array.from(token);
    if (vocab[token] !== id || characters.length < 2) return;
    for (let at = 1, left = ''; at < characters.length; ++at) {
      left += characters[at - 1];
      const right = token.slice(left.length);
      if (Object.hasOwn(vocab, left) && Object.hasOwn(vocab, right)) {
        merges.push({ left, right, score: scores[id] ?? 0, order: vocab[left] ?? 0 });
      }
    }
    demandModestMerges(merges.length);
  });
  merges.sort((a, b) => b.score - a.score || a.order - b.order);
  return merges.map(({ left, right }) => [left, right]);
}

/** GGUF writes WordPiece in "phantom space" form: ▁ begins a word, a continuation has no ##. */
function wordPiece(metadata: Metadata): TokenizerJson {
  const values = short(metadata);
  const tokens = values.tokens.map((token) => {
    if (/^\[.*\]$/.test(token)) return token;
    return token.startsWith('▁') ? token.slice(1) : `##${token}`;
  });
  const cls = values.cls_token_id ?? values.bos_token_id ?? tokens.indexOf('[CLS]');
  const sep = values.seperator_token_id ?? values.separator_token_id ?? tokens.indexOf('[SEP]');
  const unknown = tokens[values.unknown_token_id ?? tokens.indexOf('[UNK]')];
  const [clsText, sepText] = [tokens[cls], tokens[sep]];
  if (clsText === undefined || sepText === undefined || unknown === undefined) {
    throw broken('tokenizer.ggml: a bert vocabulary needs [CLS], [SEP] and [UNK]');
  }
  const piece = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const special = (id: number, text: string) => ({ id: text, ids: [id], tokens: [text] });
  return {
    added_tokens: tokens.flatMap((content, id) =>
      [cls, sep, tokens.indexOf(unknown)].includes(id) || /^\[(PAD|MASK)\]$/.test(content)
        ? [added(id, content, true)]
        : [],
    ),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [piece(clsText), { Sequence: { id: 'A', type_id: 0 } }, piece(sepText)],
      pair: [],
      special_tokens: { [clsText]: special(cls, clsText), [sepText]: special(sep, sepText) },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: false },
    model: {
      type: 'WordPiece',
      vocab: vocabulary(tokens),
      unk_token: unknown,
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
    },
  };
}
