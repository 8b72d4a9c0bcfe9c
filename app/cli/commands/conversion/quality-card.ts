import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { divergenceOf } from '../../../quality/divergence.ts';
import { takeReference } from '../../../quality/reference-file.ts';
import type { Scorer } from '../../../quality/scorer.ts';
import { wordOf } from '../../../quality/verdict.ts';
import { type Window, windowsOf } from '../../../quality/windows.ts';
import type { Context } from '../../runtime/command.ts';
import { abortFlag, openModel, textIfAny } from '../../runtime/open-model.ts';
import { bytes } from '../../runtime/terminal.ts';

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

/** The built-in manual: the last third is for evaluation, the rest for calibration. */
export function manual(context: Context, which: 'calibrate' | 'measure'): string {
  const folder = join(context.places.resources, 'help');
  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort();
  const cut = Math.ceil((2 * pages.length) / 3);
  const chosen = which === 'calibrate' ? pages.slice(0, cut) : pages.slice(cut);
  return chosen.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

async function scored<T>(
  context: Context,
  path: string,
  work: (model: { score: Scorer; windows: Window[]; vocabulary: number }) => Promise<T>,
): Promise<T | null> {
  const opened = await openModel(context, { model: path });
  const { flag, release } = abortFlag(opened.addon, context.signal);
  try {
    const text = await textIfAny(opened.addon, path);
    if (text === null) return null;
    const all = Int32Array.from([...text.before, ...text.tokenizer.encodeText(manual(context, 'measure'))]);
    const length = Math.min(WINDOW, opened.native.contextLength);
    const windows = windowsOf(all.slice(0, TOKENS), length, length);
    const session = opened.native.createSession();
    const score: Scorer = (tokens, options) =>
      session.score(tokens, {
        ...options,
        at: [...(options.at ?? [])],
        signal: flag,
      });
    return await work({
      score,
      windows,
      vocabulary: opened.native.vocabularySize,
    });
  } finally {
    release();
    opened.close();
  }
}

/** How far `made` is from `original` on the last pages of the manual. */
export async function qualityOf(context: Context, original: string, made: string): Promise<Card['quality']> {
  const reference = await scored(context, original, ({ score, windows, vocabulary }) =>
    takeReference(score, original, windows, vocabulary),
  );
  if (reference === null)
    return {
      skipped: 'the model has no tokenizer, so it cannot read text',
    };
  const found = await scored(context, made, ({ score, windows }) => divergenceOf(score, windows, reference));
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
export async function writeCard(part: string, facts: Omit<Card, 'bytes' | 'command'>): Promise<Card> {
  const card: Card = {
    ...facts,
    command: ['longhand', ...process.argv.slice(2)].join(' '),
    bytes: sizeOf(part),
  };
  await writeFile(join(part, 'quality.json'), `${JSON.stringify(card, null, 2)}\n`);
  return card;
}

export function linesOf(card: Card): string[] {
  const { quality } = card;
  const share = ((100 * card.bytes) / card.source_bytes).toFixed(0);
  return [
    `${card.out}`,
    `${bytes(card.bytes)}, ${share} % of ${bytes(card.source_bytes)}, in ${Number(card.seconds.toFixed(1))} s`,
    ...(card.cache_bytes_per_token !== undefined && card.source_cache_bytes_per_token !== undefined
      ? [
          `context memory per token: ${bytes(card.cache_bytes_per_token)}, ${((100 * card.cache_bytes_per_token) / card.source_cache_bytes_per_token).toFixed(0)} % of ${bytes(card.source_cache_bytes_per_token)}`,
        ]
      : []),
    ...('skipped' in quality
      ? [`quality loss not measured: ${quality.skipped}`]
      : [
          `${quality.verdict}: divergence (KLD) ${quality.kld.toFixed(5)} nats per token, same top token ${(100 * quality.same_top).toFixed(1)} %`,
          `perplexity ${quality.perplexity.toFixed(3)}, original ${quality.reference_perplexity.toFixed(3)}, over ${quality.tokens} tokens of ${quality.text}`,
        ]),
  ];
}
