import { z } from 'zod';
import type { FailureReason } from '../errors.ts';
import { ModelId } from '../ids.ts';
import { MemoryNeeds, type ModelDescription } from './engine.ts';

//  Latent attention (MHA2MLA): of each token the model keeps one short vector, and a few rotary pairs, instead of all keys and values.

export const LATENT_ROPES = ['2-norm', 'high', 'low', 'uniform'] as const;
export const LATENT_SVDS = ['regression', 'whitened', 'joint', 'split'] as const;

export const LatentForm = z.object({
  /** Rotary pairs kept by each head. */
  pairs: z.number().int().min(1).max(512),
  /** Which: those a text uses most, the fastest, the slowest, or evenly spaced ones. */
  rope: z.enum(LATENT_ROPES),
  /** Length of the latent vector, for each key-value head; twice that if `svd` is split. */
  rank: z.number().int().min(1).max(4096),
  /** How keys and values are factorised: each layer fitted to the original on a text (reduced-rank regression), together and weighted by
   *  the activations of a text, together, or each for itself. */
  svd: z.enum(LATENT_SVDS),
});
export type LatentForm = z.infer<typeof LatentForm>;

/** Whether the model reads a text to be converted like this. */
export const readsText = ({ rope, svd }: Pick<LatentForm, 'rope' | 'svd'>): boolean =>
  rope === '2-norm' || svd === 'whitened' || svd === 'regression';

/** What a conversion takes, by the engine's own plan for its headers. */
export const LatentSize = z.object({
  pairs: z.number(),
  rank: z.number(),
  split: z.boolean(),
  weightBytes: z.number(),
  activeBytes: z.number(),
  contextBytesPerToken: z.number(),
  memory: MemoryNeeds.nullable(),
});
export type LatentSize = z.infer<typeof LatentSize>;

/** What the context memory of a model can be shrunk to. Changes nothing. */
export const LatentPlan = z.object({
  modelId: ModelId,
  /** Whether it has a tokenizer. */
  reads: z.boolean(),
  /** Rotary pairs of a head now. */
  allPairs: z.number(),
  contextBytesPerToken: z.number(),
  /** Those that keep less of a token than the model does now. */
  sizes: z.array(LatentSize),
  /** Free bytes where models are kept. */
  free: z.number(),
});
export type LatentPlan = z.infer<typeof LatentPlan>;

/** Weights that were not quantised, and buffers that are no weights. */
const PLAIN = /^(f32|b?f16|i64|bool)$/i;

/** Why a model cannot be converted, as far as its description says; null: it can. */
export function whyNotLatent(model: Pick<ModelDescription, 'family' | 'layers' | 'container' | 'types'>) {
  if (model.layers.some(({ kind }) => kind === 'latent')) return 'latent-already' satisfies FailureReason;
  if (model.family !== 'llama') return 'latent-family' satisfies FailureReason;
  if (model.container === 'gguf') return 'latent-file' satisfies FailureReason;
  const rounded = model.container === 'mlx' || Object.keys(model.types).some((type) => !PLAIN.test(type));
  return rounded ? ('latent-rounded' satisfies FailureReason) : null;
}
