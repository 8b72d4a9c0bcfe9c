import { readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { abortFlag } from '../../engine/process/addon.ts';
import { textIfAny } from '../../engine/process/model/tokenizer-files.ts';
import { divergenceOf } from '../../quality/divergence.ts';
import { takeReference } from '../../quality/reference-file.ts';
import type { Scorer } from '../../quality/scorer.ts';
import { wordOf } from '../../quality/verdict.ts';
import { type Window, windowsOf } from '../../quality/windows.ts';
import { manual } from './manual.ts';
import type { Progress, Workshop } from './workshop.ts';

/** Quality measured on text that was not used for calibration. */
export type Quality = {
  kld: number;
  kld_99: number;
  same_top: number;
  perplexity: number;
  reference_perplexity: number;
  tokens: number;
  text: string;
  verdict: string;
};
/** What is known about a model made here, written beside it. */
export type Card = {
  made_from: string;
  out: string;
  command: string;
  method: string;
  format: string;
  bits?: number;
  /** Scales and biases included. */
  bits_per_weight?: number;
  group?: number;
  bytes: number;
  source_bytes: number;
  seconds: number;
  calibration: string | null;
  /** Relative error over all rounded weights. */
  relative_error: number | null;
  left_out: string[];
  /** For conversions: fp16 cache bytes per token, and the error of each layer. */
  cache_bytes_per_token?: number;
  source_cache_bytes_per_token?: number;
  factorisation_error?: object[];
  quality: Quality | { skipped: string };
};

/** Evaluation tokens in total, and per window. */
const TOKENS = 1024;
const WINDOW = 512;

async function scored<T>(
  workshop: Workshop,
  path: string,
  work: (model: { score: Scorer; windows: Window[]; vocabulary: number }) => Promise<T>,
): Promise<T | null> {
  const { addon } = workshop;
  const { flag, release } = abortFlag(addon, workshop.signal);
  const loading = workshop.progress('loading');
  const measuring = workshop.progress('measuring');
  try {
    const model = await addon.load(path, { signal: flag, onProgress: loading.show }).finally(loading.end);
    try {
      const text = await textIfAny(addon, path);
      if (text === null) return null;
      const all = Int32Array.from([...text.before, ...text.tokenizer.encodeText(manual(workshop.manual, 'measure'))]);
      const length = Math.min(WINDOW, model.contextLength);
      const windows = windowsOf(all.slice(0, TOKENS), length, length);
      const session = model.createSession();
      const score = counted(measuring, windows.length, (tokens, options) =>
        session.score(tokens, { ...options, at: [...(options.at ?? [])], signal: flag }),
      );
      return await work({ score, windows, vocabulary: model.vocabularySize });
    } finally {
      model.close();
    }
  } finally {
    measuring.end();
    release();
  }
}

/** Shows how many of the windows have been scored. */
function counted({ show }: Progress, total: number, score: Scorer): Scorer {
  let done = 0;
  return async (tokens, options) => {
    show(Math.min(done++, total), total);
    return score(tokens, options);
  };
}

/** How far `made` is from `original` on the last pages of the manual. */
export async function qualityOf(workshop: Workshop, original: string, made: string): Promise<Card['quality']> {
  const reference = await scored(workshop, original, ({ score, windows, vocabulary }) =>
    takeReference(score, original, windows, vocabulary),
  );
  if (reference === null)
    return {
      skipped: 'the model has no tokenizer, so it cannot read text',
    };
  const found = await scored(workshop, made, ({ score, windows }) => divergenceOf(score, windows, reference));
  if (found === null) return { skipped: 'the new model has no tokenizer' };
  return {
    kld: found.kld.value,
    kld_99: found.kld99,
    same_top: found.sameTop.value,
    perplexity: found.perplexity.value,
    reference_perplexity: found.referencePerplexity.value,
    tokens: found.tokens,
    text: 'the last pages of the manual',
    verdict: wordOf(found.kld.value),
  };
}

const sizeOf = (path: string): number =>
  statSync(path).isFile()
    ? statSync(path).size
    : readdirSync(path)
        .filter((name) => /\.(safetensors|gguf)$/.test(name))
        .reduce((sum, name) => sum + statSync(join(path, name)).size, 0);

/** Writes the card into the folder in progress. */
export async function writeCard(
  { command }: Workshop,
  part: string,
  facts: Omit<Card, 'bytes' | 'command'>,
): Promise<Card> {
  const card: Card = { ...facts, command, bytes: sizeOf(part) };
  await writeFile(join(part, 'quality.json'), `${JSON.stringify(card, null, 2)}\n`);
  return card;
}
