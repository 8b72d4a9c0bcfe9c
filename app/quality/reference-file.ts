import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { LonghandError } from '../protocol/index.ts';
import { positionsOf } from './perplexity.ts';
import type { Scorer } from './scorer.ts';
import { type Step, straight } from './step.ts';
import type { Window } from './windows.ts';

/** A model's top tokens at every position of a text, to compare other models with. */
export type Reference = {
  model: string;
  /** Hash of the tokens: detects another text, another tokenizer or other windows. */
  text: string;
  top: number;
  /** [positions, top] */
  ids: Int32Array;
  logprobs: Float32Array;
  /** [positions]: log-probability of the actual token. */
  tokenLogprobs: Float32Array;
};

const MAGIC = 'LONGHAND-REFERENCE-1\n';
/** Tokens stored per position; on prose they cover 99 % of the probability. */
export const TOP = 64;

export const textHash = (windows: readonly Window[]): string => {
  const hash = createHash('sha256');
  for (const { tokens, from } of windows)
    hash.update(`${from}:`).update(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength));
  return hash.digest('hex');
};

export async function takeReference(
  score: Scorer,
  model: string,
  windows: readonly Window[],
  vocabulary: number,
  progress: (done: number) => void = () => {},
  step: Step = straight,
): Promise<Reference> {
  const positions = positionsOf(windows);
  const top = Math.min(TOP, vocabulary);
  const ids = new Int32Array(positions * top);
  const logprobs = new Float32Array(positions * top);
  const tokenLogprobs = new Float32Array(positions);
  let done = 0;
  for (const [at, { tokens, from }] of windows.entries()) {
    const scores = await step(`reference ${at}`, () => score(tokens, { from, top }));
    ids.set(scores.top, done * top);
    logprobs.set(scores.topLogprobs, done * top);
    tokenLogprobs.set(scores.logprobs, done);
    done += scores.logprobs.length;
    progress(done);
  }
  return { model, text: textHash(windows), top, ids, logprobs, tokenLogprobs };
}

const bytesOf = (array: Int32Array | Float32Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Atomic: written beside `path` and renamed. A magic line, a line of JSON, three little-endian arrays as on
 *  every supported processor, and the SHA-256 of all of it. */
export async function writeReference(path: string, reference: Reference): Promise<void> {
  const { model, text, top, ids, logprobs, tokenLogprobs } = reference;
  const head = `${JSON.stringify({ model, text, top, positions: tokenLogprobs.length })}\n`;
  const body = Buffer.concat([Buffer.from(MAGIC + head), bytesOf(ids), bytesOf(logprobs), bytesOf(tokenLogprobs)]);
  const part = `${path}.part`;
  await writeFile(part, Buffer.concat([body, createHash('sha256').update(body).digest()]), { mode: 0o600 });
  await rename(part, path);
}

/** @throws LonghandError `bad-request` for a file of another kind, or a damaged one */
export async function readReference(path: string): Promise<Reference> {
  const file = await readFile(path);
  const broken = (why: string) => new LonghandError('bad-request', `[eval] ${path} ${why}`);
  if (file.subarray(0, MAGIC.length).toString('latin1') !== MAGIC) throw broken('is no reference of longhand eval');
  const body = file.subarray(0, -32);
  if (!createHash('sha256').update(body).digest().equals(file.subarray(-32)))
    throw broken('is damaged: take the reference again');
  const end = body.indexOf(10, MAGIC.length);
  const head = JSON.parse(body.subarray(MAGIC.length, end).toString()) as {
    model: string;
    text: string;
    top: number;
    positions: number;
  };
  // Copied for 4-byte alignment.
  const values = new Uint8Array(body.subarray(end + 1)).buffer;
  const pairs = head.positions * head.top;
  if (values.byteLength !== (2 * pairs + head.positions) * 4) throw broken('is shorter than it says');
  return {
    model: head.model,
    text: head.text,
    top: head.top,
    ids: new Int32Array(values, 0, pairs),
    logprobs: new Float32Array(values, pairs * 4, pairs),
    tokenLogprobs: new Float32Array(values, pairs * 8, head.positions),
  };
}
