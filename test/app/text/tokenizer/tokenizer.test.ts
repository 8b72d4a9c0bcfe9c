import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDetokenizer, decode } from '../../../../app/text/tokenizer/detokenizer.ts';
import { createTokenizer, type Tokenizer } from '../../../../app/text/tokenizer/tokenizer.ts';
import { realModel } from '../../../support/models/real-models.mjs';

const golden = join(import.meta.dirname, '../../../golden/tokenizers');
const read = (path: string) => JSON.parse(readFileSync(join(golden, path), 'utf8'));
type Case = { text: string; ids: number[]; decoded?: string; tokenizer_json_ids?: number[] };
type Incremental = { ids: number[]; emitted: string[]; flush: string };

const all = (tokenizer: Tokenizer, text: string) => tokenizer.encode(tokenizer.split(text));

/** The published tokenizer of Qwen3 has 151,669 tokens and is fetched; those trained for the goldens lie beside them. */
const qwen3 = JSON.parse(readFileSync(await realModel('qwen3-tokenizer'), 'utf8'));
const trained = ['bpe_llama3', 'bpe_qwen2', 'bpe_qwen35', 'bpe_smollm', 'sp_bpe'];
const sources = [...trained.map((name) => [name, read(`${name}/tokenizer.json`)] as const), ['qwen3', qwen3] as const];

describe.each(sources)('%s', (name, json) => {
  const tokenizer = createTokenizer(json);
  const expected: { cases: Case[]; incremental?: Incremental[] } = read(`${name}/expected.json`);

  test('every text has exactly the reference ids', () => {
    expect(expected.cases.length).toBe(210);
    for (const { text, ids, tokenizer_json_ids } of expected.cases) {
      expect(all(tokenizer, text), JSON.stringify(text)).toEqual(tokenizer_json_ids ?? ids);
    }
  });

  test('ids give back the reference text', () => {
    for (const { ids, decoded } of expected.cases) {
      expect(decode(tokenizer, ids)).toBe(decoded);
    }
  });

  if (expected.incremental === undefined) return;
  test('half a character is never given out', () => {
    for (const { ids, emitted, flush } of expected.incremental ?? []) {
      const detokenizer = createDetokenizer(tokenizer);
      expect(ids.map((id) => detokenizer.push(id))).toEqual(emitted);
      expect(detokenizer.flush()).toBe(flush);
    }
  });
});
