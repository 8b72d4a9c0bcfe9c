import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { ModelQuality } from '../../protocol/index.ts';
import { readRegular } from '../../store/folder/open-regular.ts';
import type { ProbeWithTimeout } from './fs-probe.ts';
import { plainName } from './model-name.ts';

//  The card beside a model that was made of another, here or by `longhand quantize` and `convert`: quality.json in its folder, or
//  NAME.quality.json beside NAME.gguf.

/** Every tensor that was left out is named, a few hundred bytes each. */
const MAX_CARD = 1024 * 1024;

const text = z.string().transform(plainName);

const Measured = z.object({
  kld: z.number().nullable(),
  same_top: z.number(),
  perplexity: z.number().nullable(),
  reference_perplexity: z.number().nullable(),
  tokens: z.number(),
});
const Card = z.object({
  method: text,
  format: text,
  bytes: z.number(),
  source_bytes: z.number(),
  seconds: z.number(),
  calibration: text.nullable(),
  cache_bytes_per_token: z.number().optional(),
  source_cache_bytes_per_token: z.number().optional(),
  quality: z.union([Measured, z.object({ skipped: z.string() })]),
});

const cardOf = (path: string): string =>
  path.endsWith('.gguf') ? join(dirname(path), `${basename(path, '.gguf')}.quality.json`) : join(path, 'quality.json');

/** Reads the card of what the engine opens; null if there is none, or none that can be read, or its disk does not answer. */
export const qualityReader = (probe: ProbeWithTimeout) => (path: string) =>
  probe<ModelQuality | null>(path, () => readQuality(path), { slow: null, busy: () => null });

async function readQuality(path: string): Promise<ModelQuality | null> {
  try {
    const card = Card.parse(JSON.parse((await readRegular(cardOf(path), MAX_CARD)).toString()));
    const { method, format, bytes, source_bytes: sourceBytes, seconds, calibration, quality } = card;
    const { cache_bytes_per_token: now, source_cache_bytes_per_token: before } = card;
    const context = now !== undefined && before !== undefined ? { bytes: now, sourceBytes: before } : null;
    return { method, format, bytes, sourceBytes, seconds, calibration, context, measured: measuredIn(quality) };
  } catch {
    return null;
  }
}

function measuredIn(quality: z.infer<typeof Card>['quality']): ModelQuality['measured'] {
  if ('skipped' in quality) return null;
  const { kld: nats, same_top: sameTop, perplexity, reference_perplexity: originalPerplexity, tokens } = quality;
  return { nats, sameTop, perplexity, originalPerplexity, tokens };
}
