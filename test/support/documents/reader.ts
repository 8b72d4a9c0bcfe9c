import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Model } from '../../../native/addon/index.d.ts';

//  The cross-encoder for questions on documents, and the scores that its training code gives.

export const reader = join(import.meta.dirname, '../../../resources/reader');

type Pair = { question: string; statement: string; tokens: number[]; score: number };
export const pairs = JSON.parse(readFileSync(join(reader, 'reference.json'), 'utf8')) as Pair[];
const separator = 102;

/** Closes the model. */
export async function scoresAre(model: Model) {
  const scores = await model.rank(
    Int32Array.from(pairs.flatMap(({ tokens }) => tokens)),
    Int32Array.from(pairs, ({ tokens }) => tokens.indexOf(separator) + 1),
    Int32Array.from(pairs, ({ tokens }) => tokens.length),
  );
  for (const [at, { score, question }] of pairs.entries()) expect(scores[at], question).toBeCloseTo(score, 3);
  model.close();
}
