import { z } from 'zod';
import { Failure } from '../errors.ts';
import { ModelId } from '../ids.ts';
import { LatentForm, LatentPlan } from './latent.ts';

//  Making a smaller version of a model, or one whose context takes less memory. One at a time.
//
//  nothing ──shrink, convert──▶ running ──▶ done │ failed      cancel: back to nothing, from any of them

export const SHRINK_BITS = [2, 3, 4, 5, 6, 8] as const;
export const SHRINK_GROUPS = [32, 64, 128] as const;
export const SHRINK_TYPES = ['Q4_0', 'Q4_K', 'Q5_K', 'Q6_K', 'Q8_0'] as const;

/** What the result is: an MLX folder, or a file for llama.cpp. */
export const ShrinkForm = z.discriminatedUnion('format', [
  z.object({ format: z.literal('mlx'), bits: z.literal(SHRINK_BITS), group: z.literal(SHRINK_GROUPS) }),
  z.object({ format: z.literal('gguf'), type: z.literal(SHRINK_TYPES) }),
]);
export type ShrinkForm = z.infer<typeof ShrinkForm>;

/** How weights are rounded: to the nearest value, half-quadratic, weighted by the activations of a text, with error feedback as well,
 *  or that with bits by the sensitivity of each layer. */
export const ShrinkMethod = z.enum(['rtn', 'hqq', 'weighted', 'gptq', 'mixed']);
export type ShrinkMethod = z.infer<typeof ShrinkMethod>;

/** Size of mixed bits relative to the same bits everywhere. */
export const MIXED_SHARE = 1.1;

/** The methods of a form, the best first; without a tokenizer (`reads` false) no text can weigh anything. */
export function methodsOf({ format }: ShrinkForm, reads: boolean): ShrinkMethod[] {
  const all: ShrinkMethod[] = format === 'mlx' ? ['gptq', 'weighted', 'mixed', 'hqq', 'rtn'] : ['weighted', 'rtn'];
  return reads ? all : all.filter((method) => method === 'hqq' || method === 'rtn');
}

export const shrunkBytes = (bytes: number, method: ShrinkMethod): number =>
  method === 'mixed' ? Math.round(bytes * MIXED_SHARE) : bytes;

/** What a model can become. Changes nothing. */
export const ShrinkPlan = z.object({
  modelId: ModelId,
  /** Bytes of its weights now. */
  bytes: z.number(),
  /** It was quantised before: doing it again adds to the loss. */
  quantised: z.boolean(),
  /** Whether it has a tokenizer. */
  reads: z.boolean(),
  /** The forms that are smaller than it is now, with the bytes of their weights. */
  sizes: z.array(z.object({ form: ShrinkForm, bytes: z.number() })),
  /** Free bytes where models are kept. */
  free: z.number(),
});
export type ShrinkPlan = z.infer<typeof ShrinkPlan>;

/** What a model that was made of another is worth, from the card beside it; `nats`: divergence a token, null if it is no number. */
export const ModelQuality = z.object({
  method: z.string(),
  format: z.string(),
  bytes: z.number(),
  sourceBytes: z.number(),
  seconds: z.number(),
  /** The text that weighed the weights. */
  calibration: z.string().nullable(),
  /** Bytes of context memory a token in fp16, and of the original; null if the weights were made smaller, not the context. */
  context: z.object({ bytes: z.number(), sourceBytes: z.number() }).nullable().default(null),
  /** Null if the loss was not measured. */
  measured: z
    .object({
      nats: z.number().nullable(),
      sameTop: z.number(),
      perplexity: z.number().nullable(),
      originalPerplexity: z.number().nullable(),
      tokens: z.number(),
    })
    .nullable(),
});
export type ModelQuality = z.infer<typeof ModelQuality>;

const what = { modelId: ModelId, name: z.string() };

/** What is being made, or how the last one ended; `modelId`: of the original, `name`: of the result. */
export const Shrinking = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('running'),
    ...what,
    phase: z.enum(['preparing', 'calibrating', 'choosing', 'writing', 'converting', 'measuring', 'checking']),
    /** Of the phase, from 0 to 1. */
    share: z.number(),
    /** Until the end of the phase; null until it can be told. */
    secondsLeft: z.number().nullable(),
  }),
  z.object({ status: z.literal('done'), ...what, madeId: ModelId, quality: ModelQuality.nullable() }),
  z.object({ status: z.literal('failed'), ...what, failure: Failure }),
]);
export type Shrinking = z.infer<typeof Shrinking>;

export type Verdict = 'same' | 'slight' | 'little' | 'clear' | 'much' | 'broken';

/** A divergence in nats per token. Calibrated on English text that the models know well; 8 bits are near 0.001, 4 bits near
 *  0.05, 2 bits above 1. */
export function verdictOf(nats: number | null): Verdict {
  if (nats === null || !(nats >= 0)) return 'broken';
  if (nats < 0.01) return 'same';
  if (nats < 0.05) return 'slight';
  if (nats < 0.2) return 'little';
  return nats < 1 ? 'clear' : 'much';
}

/** Of which somebody should know before using the model. */
export const isWeaker = (verdict: Verdict): boolean =>
  verdict === 'clear' || verdict === 'much' || verdict === 'broken';

const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});

export const shrinkCalls = {
  'models.shrinkPlan': call(z.object({ modelId: ModelId }), ShrinkPlan),
  /** Begins; the rest is told by `model.shrinking`. `again`: although it was quantised before. */
  'models.shrink': call(
    z.object({ modelId: ModelId, form: ShrinkForm, method: ShrinkMethod, again: z.boolean().default(false) }),
    z.void(),
  ),
  'models.latentPlan': call(z.object({ modelId: ModelId }), LatentPlan),
  /** Begins to make a version with latent attention; told like a smaller one. */
  'models.convert': call(z.object({ modelId: ModelId, form: LatentForm }), z.void()),
  'models.shrinking': call(z.void(), Shrinking.nullable()),
  /** Ends it, of which nothing is left; or puts away how it ended. */
  'models.cancelShrink': call(z.void(), z.void()),
} as const;

export const shrinkEvents = { 'model.shrinking': Shrinking.nullable() } as const;
