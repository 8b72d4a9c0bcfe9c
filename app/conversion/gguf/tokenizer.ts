import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LonghandError } from '../../protocol/index.ts';
import { PRETOKENIZERS } from '../../text/tokenizer/pretokenizers.ts';
import type { GgufValue, Metadata } from './file.ts';
import type { Config } from './metadata.ts';
import type { Family } from './names.ts';

type Json = Record<string, unknown>;
type Added = { id: number; content: string; special: boolean };

const read = (folder: string, name: string): Json | null =>
  existsSync(join(folder, name)) ? (JSON.parse(readFileSync(join(folder, name), 'utf8')) as Json) : null;

/** tokenizer.json and related files as llama.cpp metadata; null without a tokenizer. */
export function tokenizerMetadata(folder: string, family: Family, config: Config): Metadata | null {
  const json = read(folder, 'tokenizer.json');
  if (json === null) return null;
  const model = json.model as {
    type?: string;
    vocab: Record<string, number>;
    merges?: unknown[];
    byte_fallback?: boolean;
  };
  if (model.type !== 'BPE' || model.byte_fallback === true || !Array.isArray(model.merges)) {
    throw new LonghandError(
      'model-unsupported',
      `[quantize] the tokenizer is ${model.byte_fallback ? 'SentencePiece' : String(model.type)}; allowed for GGUF is byte-level BPE`,
    );
  }
  const added = (json.added_tokens ?? []) as Added[];
  const options = read(folder, 'tokenizer_config.json') ?? {};
  const generation = read(folder, 'generation_config.json') ?? {};
  const ids = new Map([
    ...Object.entries(model.vocab),
    ...added.map(({ id, content }): [string, number] => [content, id]),
  ]);
  const { tokens, types } = listsOf(ids, added, Number(config.vocab_size));
  const idOf = (value: unknown): number | undefined => {
    const word = typeof value === 'object' && value !== null ? (value as { content?: unknown }).content : value;
    return typeof word === 'string' ? ids.get(word) : undefined;
  };
  const first = (value: unknown) => (Array.isArray(value) ? value[0] : value) as number | undefined;
  const template = templateOf(folder, options);
  const numbers = {
    bos: idOf(options.bos_token) ?? first(config.bos_token_id),
    eos: idOf(options.eos_token) ?? first(generation.eos_token_id ?? config.eos_token_id),
    padding: idOf(options.pad_token) ?? first(config.pad_token_id),
  };
  return {
    'tokenizer.ggml.model': { text: 'gpt2' },
    'tokenizer.ggml.pre': { text: preOf(json, family) },
    'tokenizer.ggml.tokens': { texts: tokens },
    'tokenizer.ggml.token_type': { i32s: types },
    'tokenizer.ggml.merges': {
      texts: model.merges.map((merge) => (Array.isArray(merge) ? merge.join(' ') : String(merge))),
    },
    ...Object.fromEntries(
      Object.entries(numbers).flatMap(([name, id]): [string, GgufValue][] =>
        typeof id === 'number' ? [[`tokenizer.ggml.${name}_token_id`, { u32: id }]] : [],
      ),
    ),
    'tokenizer.ggml.add_bos_token': { bool: addsBos(json, options, numbers.bos) },
    ...(template === null ? {} : { 'tokenizer.chat_template': { text: template } }),
  };
}

/** Token types of llama.cpp: 1 normal, 3 control, 4 added by the user, 5 unused. */
function listsOf(ids: ReadonlyMap<string, number>, added: readonly Added[], size: number) {
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const types = new Array<number>(size).fill(5);
  for (const [token, id] of ids) {
    if (id >= size) continue;
    tokens[id] = token;
    types[id] = 1;
  }
  for (const { id, special } of added) if (id < size) types[id] = special ? 3 : 4;
  return { tokens, types };
}

/** A signature of a pre-tokenizer: its patterns and types only. */
function signOf(value: unknown): string {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, individual_digits, use_regex } = node as Json;
    if (type === 'Split') found.push(String((pattern as Json | undefined)?.Regex ?? ''));
    if (type === 'Digits' && individual_digits === true) found.push('digits');
    if (type === 'ByteLevel' && use_regex === true) found.push('words');
    for (const child of Object.values(node)) walk(child);
  };
  walk(value);
  return found.join('\n');
}

const PREFERRED: Readonly<Partial<Record<Family, string>>> = { lfm2: 'lfm2', llama: 'llama-bpe' };

function preOf(json: Json, family: Family): string {
  const sign = signOf(json.pre_tokenizer);
  const names = Object.keys(PRETOKENIZERS).filter((name) => signOf(PRETOKENIZERS[name]?.pre_tokenizer) === sign);
  const name = names.find((one) => one === PREFERRED[family]) ?? names[0];
  if (name !== undefined) return name;
  throw new LonghandError(
    'model-unsupported',
    `[quantize] the tokenizer splits text in a way that has no name in GGUF; expected one of ${Object.keys(PRETOKENIZERS).join(', ')}`,
  );
}

function addsBos(json: Json, { add_bos_token }: Json, bos: number | undefined): boolean {
  if (typeof add_bos_token === 'boolean') return add_bos_token;
  return bos !== undefined && JSON.stringify(json.post_processor ?? {}).includes(`"ids":[${bos}]`);
}

function templateOf(folder: string, { chat_template }: Json): string | null {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) return readFileSync(file, 'utf8');
  return typeof chat_template === 'string' ? chat_template : null;
}
