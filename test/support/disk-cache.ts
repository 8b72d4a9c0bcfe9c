// A prompt cache on disk, as one process after the other uses it: for the tests of its files.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadOptions, Model, Session } from '../../native/addon/index.d.ts';
import { addon } from './addon.ts';
import { families, someTokens } from './models/models.ts';
import { END } from './models/prompt-trees.ts';

export const MB = 2 ** 20;
export const message = (length: number, seed: number) => [...someTokens(length - 1, seed), END];
export const chatOf = (seed: number) => [...message(40, 1), ...message(700, seed)];
export const hybrid = families[3]?.[1] as string; // Qwen3.5: states and keys
export const plain = families[2]?.[1] as string;

type Options = LoadOptions & { bytes?: number; key?: Uint8Array };

/** A model as a process begins with it: nothing is in memory. */
export async function started(path: string, folder: string | null, options: Options = {}) {
  const { bytes = 256 * MB, key, ...own } = options;
  const model = await addon.load(path, { device: 'cpu', threads: 2, ...own });
  model.setPromptCache(256 * MB);
  await model.setPromptCacheDisk(folder === null ? null : { folder, bytes, ...(key && { key }) });
  return model;
}

export const ask = (
  session: Session,
  chat: readonly number[],
  options: Partial<Parameters<Session['generate']>[1]> = {},
) =>
  session.generate(Int32Array.from([...chat, 5]), {
    maxTokens: 4,
    stopTokens: [END],
    ...options,
  });

/** Reads a chat for `owner` and ends, with everything written. */
export async function readOnce(path: string, folder: string, chat = chatOf(2), owner = 'chat', options: Options = {}) {
  const model = await started(path, folder, options);
  await ask(model.createSession({ contextLength: 2048 }), chat, { owner });
  await model.flushPromptCache();
  const { diskBytes } = model.promptCache();
  model.close();
  return diskBytes;
}

export const known = async (model: Model, chat = chatOf(2), options = {}) =>
  (await ask(model.createSession({ contextLength: 2048 }), chat, options)).timings.cachedTokens;

export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

/** Where the parts of a file lie (native/engine/prompt_cache/entry_file.h). */
export const HEAD = { tokens: 24, bytes: 32, name: 40, encrypted: 56, nonce: 60, content: 72, checksum: 80, size: 88 };

/** Changes a file and makes the checksum of its header right again, which needs no key. */
export function forge(path: string, change: (bytes: Buffer) => unknown): void {
  const bytes = readFileSync(path);
  change(bytes);
  bytes.writeBigUInt64LE(xxh64(bytes.subarray(0, HEAD.checksum)), HEAD.checksum);
  writeFileSync(path, bytes);
}

const [P1, P2, P3, P4] = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n] as const;
const cut = (value: bigint): bigint => BigInt.asUintN(64, value);
const turned = (value: bigint, by: bigint): bigint => cut(value << by) | (cut(value) >> (64n - by));
const round = (sum: bigint, lane: bigint): bigint => cut(turned(cut(sum + lane * P2), 31n) * P1);

/** XXH64 of whole words (native/formats/hash.h), for headers. */
function xxh64(bytes: Buffer): bigint {
  const lane = (at: number) => bytes.readBigUInt64LE(at);
  let sums = [cut(P1 + P2), P2, 0n, cut(-P1)];
  let at = 0;
  for (; at + 32 <= bytes.length; at += 32) sums = sums.map((sum, i) => round(sum, lane(at + 8 * i)));
  let hash = cut([1n, 7n, 12n, 18n].reduce((all, by, i) => all + turned(sums[i] ?? 0n, by), 0n));
  for (const sum of sums) hash = cut((hash ^ round(0n, sum)) * P1 + P4);
  hash = cut(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) hash = cut(turned(hash ^ round(0n, lane(at)), 27n) * P1 + P4);
  hash = cut((hash ^ (hash >> 33n)) * P2);
  hash = cut((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}
