import { z } from 'zod';
import { SamplingSettings } from '../protocol/index.ts';

/** One letter a layer, in model order: L gated delta or lightning, C convolution, F full attention, S sparse attention. */
const LayerStrip = z.string().regex(/^[LCFS]+$/);

/** A model the app recommends: facts from its card and configuration; sizes and verdicts come from its headers. */
export const CatalogueModel = z.strictObject({
  id: z.string().regex(/^[\w.-]+$/),
  name: z.string(),
  maker: z.string(),
  /** `Description.family` of the engine. */
  family: z.string(),
  parameters: z.number().int(),
  /** Mixture of experts: parameters a token uses. */
  activeParameters: z.number().int().optional(),
  layers: LayerStrip,
  context: z.number().int(),
  licence: z.string(),
  languages: z.array(z.string()),
  abilities: z.array(z.enum(['thinking', 'tools', 'images', 'embeddings'])),
  thinkingByDefault: z.boolean(),
  /** As the card recommends. */
  sampling: z.strictObject({ thinking: SamplingSettings.optional(), plain: SamplingSettings.optional() }),
  /** Embedding models: what is put before a text. */
  prefixes: z.strictObject({ query: z.string(), passage: z.string() }).optional(),
  forms: z
    .array(
      z.strictObject({
        kind: z.enum(['safetensors', 'mlx', 'gguf']),
        repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
        gated: z.boolean().optional(),
      }),
    )
    .min(1),
});
export type CatalogueModel = z.infer<typeof CatalogueModel>;

/** @throws when the file that ships with the app breaks its own schema; a test reads it */
export function readCatalogue(text: string): CatalogueModel[] {
  return z.strictObject({ models: z.array(CatalogueModel) }).parse(JSON.parse(text)).models;
}
