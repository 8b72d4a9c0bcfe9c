import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gguf } from '@huggingface/gguf';
import { describe, expect, test } from 'vitest';
import { textFromGguf } from '../../../../app/text/tokenizer/gguf-tokenizer.ts';
import { createTokenizer, type Tokenizer, type TokenizerJson } from '../../../../app/text/tokenizer/tokenizer.ts';

const golden = join(import.meta.dirname, '../../../golden');
const read = (path: string) => JSON.parse(readFileSync(join(golden, path), 'utf8'));
const all = (tokenizer: Tokenizer, text: string) => tokenizer.encode(tokenizer.split(text));
type Case = { text: string; ids: number[]; tokenizer_json_ids?: number[] };

/** What a converter writes for a tokenizer.json. */
function metadataOf(json: TokenizerJson, model: string, pre?: string): Record<string, unknown> {
  const tokens: string[] = [];
  for (const [token, id] of Object.entries(json.model.vocab as Record<string, number>)) tokens[id] = token;
  const types = tokens.map(() => 1);
  for (const { id, content, special } of json.added_tokens ?? []) {
    tokens[id] = content;
    types[id] = special ? 3 : 4;
  }
  const merges = (json.model.merges ?? []).map((pair) => (Array.isArray(pair) ? pair.join(' ') : pair));
  return {
    'tokenizer.ggml.model': model,
    ...(pre && { 'tokenizer.ggml.pre': pre }),
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': types,
    ...(merges.length > 0 && { 'tokenizer.ggml.merges': merges }),
  };
}

describe.each([
  ['bpe_qwen2', 'qwen2'],
  ['bpe_qwen35', 'qwen35'],
  ['bpe_smollm', 'smollm'],
  ['bpe_llama3', 'lfm2'],
  ['bpe_llama3', 'llama-bpe'],
])('gpt2 vocabulary: %s as pre type %s', (name, pre) => {
  test('has the ids of tokenizer.json', () => {
    const text = textFromGguf(metadataOf(read(`tokenizers/${name}/tokenizer.json`), 'gpt2', pre));
    const tokenizer = createTokenizer(text.tokenizer);
    for (const { text, ids } of read(`tokenizers/${name}/expected.json`).cases as Case[]) {
      expect(all(tokenizer, text), JSON.stringify(text)).toEqual(ids);
    }
  });
});

/** The fields of every component, by its type; what it has once it has been seen with fewer is what every reader can rely on. */
function fieldsOf(value: unknown, found = new Map<string, Set<string>>()): Map<string, Set<string>> {
  if (typeof value !== 'object' || value === null) return found;
  const { type, content } = value as { type?: unknown; content?: unknown };
  const name = typeof type === 'string' ? type : typeof content === 'string' ? 'an added token' : null;
  if (name !== null) {
    const seen = found.get(name);
    const own = Object.keys(value);
    found.set(name, new Set(seen === undefined ? own : own.filter((field) => seen.has(field))));
  }
  // The vocabulary is no component.
  if (type !== 'BPE') for (const child of Object.values(value)) fieldsOf(child, found);
  return found;
}

// Hugging Face's library refuses a file in which a field is missing, so a model made from GGUF would open in no other program.
test.each([
  ['bpe_qwen2', 'qwen2'],
  ['bpe_smollm', 'smollm'],
  ['bpe_llama3', 'llama-bpe'],
])('a tokenizer.json made from a gpt2 vocabulary has the fields of a published one: %s', (name, pre) => {
  const published: TokenizerJson = read(`tokenizers/${name}/tokenizer.json`);
  const made = fieldsOf(textFromGguf(metadataOf(published, 'gpt2', pre)).tokenizer);
  for (const [component, fields] of fieldsOf(published)) {
    if (made.has(component) && component !== 'BPE')
      expect([...(made.get(component) ?? [])], component).toEqual(expect.arrayContaining([...fields]));
  }
  expect([...made.keys()]).toEqual(expect.arrayContaining(['an added token', 'ByteLevel']));
});

/** Pieces and scores of a SentencePiece model file: field 1 = { 1: piece, 2: score, 3: type }. */
function piecesOf(file: Buffer): { piece: string; score: number; type: number }[] {
  const pieces: { piece: string; score: number; type: number }[] = [];
  const varint = (at: number): [number, number] => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = file[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return [value, at];
    }
  };
  for (let at = 0; at < file.length; ) {
    const [tag, afterTag] = varint(at);
    const [length, start] = varint(afterTag);
    at = start + length;
    if (tag !== 0x0a) continue;
    const entry = { piece: '', score: 0, type: 1 };
    for (let i = start; i < at; ) {
      const [field, next] = varint(i);
      if (field === 0x0a) {
        const [size, from] = varint(next);
        entry.piece = file.toString('utf8', from, from + size);
        i = from + size;
      } else if (field === 0x15) {
        entry.score = file.readFloatLE(next);
        i = next + 4;
      } else {
        [entry.type, i] = varint(next);
      }
    }
    pieces.push(entry);
  }
  return pieces;
}

test('llama vocabulary: scores alone give the ids of tokenizer.json and of SentencePiece', () => {
  const pieces = piecesOf(readFileSync(join(golden, 'tokenizers/sp_bpe/tokenizer.model')));
  const text = textFromGguf({
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': pieces.map(({ piece }) => piece),
    'tokenizer.ggml.scores': pieces.map(({ score }) => score),
    'tokenizer.ggml.token_type': pieces.map(({ type }) => type),
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
  });
  expect(text).toMatchObject({ bos: 1, addBos: true, eos: [2] });
  const tokenizer = createTokenizer(text.tokenizer);
  const { cases }: { cases: Case[] } = read('tokenizers/sp_bpe/expected.json');
  const userDefined = pieces.filter(({ type }) => type === 4).map(({ piece }) => piece);
  for (const { text, ids, tokenizer_json_ids } of cases) {
    expect(all(tokenizer, text), JSON.stringify(text)).toEqual(tokenizer_json_ids ?? ids);
    if (userDefined.some((word) => text.includes(word))) continue;
    expect(tokenizer.encodeText(text), JSON.stringify(text)).toEqual(ids);
  }
});

test('bert vocabulary in phantom space form has the ids of tokenizer.json, [CLS] and [SEP] around them', () => {
  const json: TokenizerJson = read('tokenizers/wordpiece/tokenizer.json');
  const metadata = metadataOf(json, 'bert');
  const tokens = metadata['tokenizer.ggml.tokens'] as string[];
  metadata['tokenizer.ggml.tokens'] = tokens.map((token) => {
    if (/^\[.*\]$/.test(token)) return token;
    return token.startsWith('##') ? token.slice(2) : `▁${token}`;
  });
  const fromGguf = createTokenizer(textFromGguf(metadata).tokenizer);
  const fromJson = createTokenizer(json);
  for (const { text, ids } of read('tokenizers/wordpiece/expected.json').cases as Case[]) {
    for (const tokenizer of [fromJson, fromGguf]) {
      const { before, after } = tokenizer.around;
      expect([...before, ...all(tokenizer, text), ...after], JSON.stringify(text)).toEqual(ids);
    }
  }
});

test.each(['lfm2', 'llama', 'llama_rope_llama3', 'qwen3', 'qwen35'])('golden file gguf_models/%s', async (name) => {
  const file = join(golden, `gguf_models/${name}/model-f32.gguf`);
  const { metadata } = await gguf(file, { allowLocalFile: true });
  const text = textFromGguf(metadata as unknown as Record<string, unknown>);
  expect(text.chatTemplate).toContain('<|im_start|>');
  const fromGguf = createTokenizer(text.tokenizer);
  const fromJson = createTokenizer(read(`gguf_models/${name}/tokenizer.json`));
  for (const { text } of read('tokenizers/bpe_qwen2/expected.json').cases as Case[]) {
    expect(all(fromGguf, text), JSON.stringify(text)).toEqual(all(fromJson, text));
  }
});

describe('malformed metadata is refused with the key', () => {
  const good = metadataOf(read('tokenizers/bpe_qwen2/tokenizer.json'), 'gpt2', 'qwen2');
  test.each([
    ['no tokens', { 'tokenizer.ggml.tokens': undefined }, 'tokenizer.ggml.tokens'],
    ['tokens that are no strings', { 'tokenizer.ggml.tokens': [1, 2] }, 'tokenizer.ggml.tokens'],
    ['an unknown model', { 'tokenizer.ggml.model': 'rwkv' }, 'tokenizer.ggml.model'],
    ['an unknown pre type', { 'tokenizer.ggml.pre': 'nobody' }, 'tokenizer.ggml.pre is "nobody"'],
    ['no merges', { 'tokenizer.ggml.merges': undefined }, 'tokenizer.ggml.merges'],
    ['types of another length', { 'tokenizer.ggml.token_type': [1] }, 'tokenizer.ggml.token_type has 1'],
    ['an eos outside', { 'tokenizer.ggml.eos_token_id': 1e6 }, 'tokenizer.ggml.eos_token_id'],
    ['a negative bos', { 'tokenizer.ggml.bos_token_id': -1 }, 'tokenizer.ggml.bos_token_id'],
    ['a llama vocabulary without scores', { 'tokenizer.ggml.model': 'llama' }, 'tokenizer.ggml.scores'],
    ['a bert vocabulary without [CLS]', { 'tokenizer.ggml.model': 'bert' }, '[CLS]'],
  ])('%s', (_, change, message) => {
    expect(() => textFromGguf({ ...good, ...change })).toThrow(message);
  });
});
