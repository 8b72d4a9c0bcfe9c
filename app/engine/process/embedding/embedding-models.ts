import { setImmediate } from 'node:timers/promises';
import type * as Addon from '../../../../native/addon/index.d.ts';
import { LonghandError } from '../../../protocol/index.ts';
import type { Tokenizer } from '../../../text/tokenizer/tokenizer.ts';
import type { Embedded, EmbedderTarget, Embedding, Ranked, Ranking } from '../../ipc-protocol.ts';
import { readModelText } from '../model/tokenizer-files.ts';
import { type EmbedderText, readEmbedderText } from './embedding-prefixes.ts';

type Embedder = { native: Addon.Model; tokenizer: Tokenizer; text: EmbedderText };

/** Encoders are unloaded after being idle this long. */
const idleMs = 10 * 60 * 1000;

/** While a collection changes its encoder, it is searched with one and indexed with the other; plus two cross-encoders. */
const maxEmbedders = 4;

/** Encoders beside the chat model, loaded on demand. */
export function createEmbeddingModels(addon: typeof Addon) {
  /** Most recently used last. */
  const loaded = new Map<string, Promise<Embedder>>();
  let uses = 0;
  let idle: NodeJS.Timeout | undefined;

  function wanted(target: EmbedderTarget): Promise<Embedder> {
    const key = JSON.stringify(target);
    const encoder = loaded.get(key) ?? load(addon, target);
    loaded.delete(key);
    loaded.set(key, encoder);
    encoder.catch(() => loaded.delete(key));
    for (const oldest of [...loaded.keys()].slice(0, -maxEmbedders)) release(oldest);
    return encoder;
  }

  function release(key: string) {
    loaded
      .get(key)
      ?.then(({ native }) => native.close())
      .catch(() => {});
    loaded.delete(key);
  }

  async function inUse<Result>(work: () => Promise<Result>): Promise<Result> {
    clearTimeout(idle);
    ++uses;
    try {
      return await work();
    } finally {
      if (--uses === 0) idle = setTimeout(() => [...loaded.keys()].forEach(release), idleMs).unref();
    }
  }

  return {
    /** `goOn` is checked between batches. */
    embed: ({ target, texts, kind }: Embedding, goOn: () => boolean): Promise<Embedded> =>
      inUse(async () => {
        const vectors: Float32Array[] = [];
        while (vectors.length < texts.length && (vectors.length === 0 || goOn())) {
          // Looked up again each time: it may have been evicted in the meantime.
          vectors.push(...(await firstVectors(await wanted(target), texts.slice(vectors.length), kind)));
        }
        return { vectors };
      }),
    rank: ({ target, query, texts }: Ranking): Promise<Ranked> =>
      inUse(async () => {
        const scores: number[] = [];
        while (scores.length < texts.length) {
          scores.push(...(await firstScores(await wanted(target), query, texts.slice(scores.length))));
        }
        return { scores };
      }),
  };
}

async function load(addon: typeof Addon, { path, device, threads, adapter }: EmbedderTarget): Promise<Embedder> {
  const { tokenizer } = await readModelText(addon, path);
  const native = await addon.load(path, {
    ...(device !== null && { device }),
    ...(threads !== null && { threads }),
    ...(adapter !== undefined && { adapter }),
  });
  if (!native.description.encoder) {
    native.close();
    throw new LonghandError('model-unsupported', `[embed] ${path} writes text; embeddings come from encoder models`);
  }
  return { native, tokenizer, text: await readEmbedderText(addon, path) };
}

/** Longer texts are read in windows; their vector is the normalised mean of the windows'. */
const maxWindows = 8;
const windowOverlap = 32;

/** Texts are batched up to this many tokens, so that each weight is loaded once for all of them (MiniLM took 0.23 ms
 *  for each token of statements of 25, one by one, and takes 0.14). */
const tokensAtOnce = 192;

/** The vectors of the first batch; at least one text. */
async function firstVectors(encoder: Embedder, texts: readonly string[], kind: Embedding['kind']) {
  const windows: number[][][] = [];
  for (let tokens = 0; windows.length < texts.length && tokens < tokensAtOnce; ) {
    const own = await windowsOf(encoder, texts[windows.length] ?? '', kind);
    windows.push(own);
    tokens += own.reduce((sum, { length }) => sum + length, 0);
  }
  const inputs = windows.flat();
  const { native } = encoder;
  const read = await native.embed(
    Int32Array.from(inputs.flat()),
    Int32Array.from(inputs, ({ length }) => length),
  );
  const size = native.description.hiddenSize;
  let row = 0;
  return windows.map(({ length }) => {
    const sum = new Float32Array(size);
    for (const end = row + length; row < end; ++row) {
      const vector = unit(read.subarray(row * size, (row + 1) * size));
      for (let i = 0; i < size; ++i) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
    }
    return unit(sum);
  });
}

/** The token windows of a text. */
async function windowsOf({ native, tokenizer, text }: Embedder, words: string, kind: Embedding['kind']) {
  const { before, after } = tokenizer.around;
  const prefix = tokenizer.encodeText(text.prefixes[kind]);
  const room = Math.min(native.contextLength, text.longest) - before.length - after.length - prefix.length;
  const ids = await encodeSlowly(tokenizer, words, maxWindows * room);
  const windows: number[][] = [];
  for (
    let start = 0;
    windows.length < maxWindows && (start === 0 || start + windowOverlap < ids.length);
    start += Math.max(1, room - windowOverlap)
  ) {
    windows.push([...before, ...prefix, ...ids.slice(start, start + room), ...after]);
  }
  return windows;
}

/** The scores of the first batch; at least one passage. Question and passage form one two-part text; if it is too long for
 *  the model the question keeps at most half. */
async function firstScores({ native, tokenizer, text }: Embedder, query: string, passages: readonly string[]) {
  const { before, after } = tokenizer.around;
  const room = Math.min(native.contextLength, text.longest) - before.length - 2 * after.length;
  const asked = await encodeSlowly(tokenizer, query, Math.floor(room / 2));
  const first = [...before, ...asked, ...after];
  const pairs: number[][] = [];
  for (let tokens = 0; pairs.length < passages.length && tokens < tokensAtOnce; ) {
    const second = await encodeSlowly(tokenizer, passages[pairs.length] ?? '', room - asked.length);
    const pair = [...first, ...second, ...after];
    pairs.push(pair);
    tokens += pair.length;
  }
  return native.rank(
    Int32Array.from(pairs.flat()),
    Int32Array.from(pairs, () => first.length),
    Int32Array.from(pairs, ({ length }) => length),
  );
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : vector;
}

const encodedAtOnce = 1500;

/** Tokenizes in pieces cut at white space, so that no text blocks the thread. */
async function encodeSlowly(tokenizer: Tokenizer, text: string, most: number): Promise<number[]> {
  const ids: number[] = [];
  for (let start = 0; start < text.length && ids.length < most; ) {
    const space = text.slice(start, start + encodedAtOnce).search(/\s\S*$/);
    const end = text.length - start <= encodedAtOnce || space <= 0 ? start + encodedAtOnce : start + space;
    ids.push(...tokenizer.encodeText(text.slice(start, end), start === 0));
    start = end;
    if (start < text.length) await setImmediate();
  }
  return ids.slice(0, most);
}
