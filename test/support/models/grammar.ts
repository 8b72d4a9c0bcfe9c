// Grammars over the vocabularies of real tokenizers, and random texts that follow them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenTexts } from '../../../app/text/tokenizer/token-texts.ts';
import { createTokenizer, type Tokenizer } from '../../../app/text/tokenizer/tokenizer.ts';
import type { Grammar, Vocabulary } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../addon.ts';
import { starter } from './models.ts';
import { realModel } from './real-models.mjs';

export type Words = { tokenizer: Tokenizer; vocabulary: Vocabulary; text(ids: readonly number[]): string };

export async function wordsOf(name: string): Promise<Words> {
  const path =
    name === 'qwen3'
      ? await realModel('qwen3-tokenizer')
      : join(name === 'starter' ? starter : join(golden, 'tokenizers', name), 'tokenizer.json');
  const tokenizer = createTokenizer(JSON.parse(readFileSync(path, 'utf8')));
  const { bytes, ends } = tokenTexts(tokenizer, tokenizer.size);
  return {
    tokenizer,
    vocabulary: await addon.vocabulary(bytes, ends),
    text: (ids) => Buffer.concat(ids.map((id) => tokenizer.bytes.of(id))).toString('utf8'),
  };
}

/** The tokens allowed by a mask. */
export function allowed(mask: Uint32Array): number[] {
  const ids: number[] = [];
  for (const [word, bits] of mask.entries()) {
    for (let bit = 0; bits !== 0 && bit < 32; bit++) if ((bits >>> bit) & 1) ids.push(32 * word + bit);
  }
  return ids;
}

/** Numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Writes a random text that the grammar allows. After `freely` tokens it heads for the end. Null if no end was found. */
export function writeAtRandom(
  grammar: Grammar,
  { text }: Words,
  random: () => number,
  { freely = 25, most = 300, look = (_ids: Int32Array) => {} } = {},
): number[] | null {
  const ids: number[] = [];
  while (ids.length < most) {
    const so = Int32Array.from(ids);
    look(so);
    const next = grammar.after(so);
    if (!next) throw new Error(`[test] ${JSON.stringify(text(ids))} was allowed and does not fit`);
    if (next.complete || (next.ends && random() < 0.3)) return ids;
    const choices = allowed(next.allowed);
    if (choices.length === 0) throw new Error(`[test] nothing can follow ${JSON.stringify(text(ids))}`);
    const ending = ids.length < freely ? [] : choices.filter((id) => /^["\]}]+$/.test(text([id])));
    const from = ending.length > 0 ? ending : choices;
    ids.push(from[Math.floor(random() * from.length)] ?? 0);
  }
  return null;
}
