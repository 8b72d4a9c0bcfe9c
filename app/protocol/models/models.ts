import { z } from 'zod';
import { SamplingSettings } from '../chat/chat.ts';
import { ModelId } from '../ids.ts';
import { ModelDescription, ModelEntry } from './engine.ts';
import { ModelQuality } from './shrinking.ts';

//  Models outside the library: of the catalogue, of sources, and of other programs.

export const SourceId = z.enum(['huggingface', 'mirror', 'modelscope', 'url', 'folder']);
export type SourceId = z.infer<typeof SourceId>;

/** One letter per layer, in order: L gated delta or lightning, C convolution, F full attention, S sparse attention. */
export const LayerStrip = z.string().regex(/^[LCFS]+$/);

/** A recommended model: data from its card and configuration; exact sizes and forecasts come from its headers. */
export const CatalogueModel = z.strictObject({
  id: z.string().regex(/^[\w.-]+$/),
  name: z.string(),
  maker: z.string(),
  /** `Description.family` of the engine. */
  family: z.string(),
  parameters: z.number().int(),
  /** Mixture of experts: active parameters per token. */
  activeParameters: z.number().int().optional(),
  layers: LayerStrip,
  context: z.number().int(),
  licence: z.string(),
  languages: z.array(z.string()),
  abilities: z.array(z.enum(['thinking', 'tools', 'images', 'embeddings'])),
  thinkingByDefault: z.boolean(),
  /** Recommended by the model card. */
  sampling: z.strictObject({ thinking: SamplingSettings.optional(), plain: SamplingSettings.optional() }),
  /** Embedding models: text prefixes. */
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

export const FoundModel = z.object({
  source: SourceId,
  name: z.string(),
  downloads: z.number().nullable(),
  likes: z.number().nullable(),
  updatedAt: z.number().nullable(),
  gated: z.boolean(),
  /** Whether its card names a supported family; null if the card does not say. */
  runs: z.boolean().nullable(),
});
export type FoundModel = z.infer<typeof FoundModel>;

/** A downloadable variant of a repository: a quantisation, or its folder of safetensors. */
export const Variant = z.object({
  /** Its (first) file, or `.` for a folder. */
  id: z.string(),
  /** `Q4_K_M`, `BF16`, `4-bit` ... */
  label: z.string(),
  kind: z.enum(['gguf', 'safetensors', 'mlx']),
  /** Bytes to download. */
  bytes: z.number(),
  /** From the headers of this variant if `exact`; else scaled from another one by size. */
  description: ModelDescription,
  exact: z.boolean(),
});
export type Variant = z.infer<typeof Variant>;

export const RemoteModel = z.object({
  reference: z.string(),
  source: SourceId,
  /** The host of the source; null for a full URL typed by the user. */
  host: z.string().nullable(),
  repository: z.string(),
  commit: z.string(),
  gated: z.boolean(),
  /** Largest first. */
  variants: z.array(Variant).min(1),
});
export type RemoteModel = z.infer<typeof RemoteModel>;

/** A model of another program on this computer. */
export const ExternalModel = z.object({
  app: z.enum(['Hugging Face cache', 'MLX', 'LM Studio', 'Ollama', 'Jan', 'GPT4All']),
  name: z.string(),
  kind: z.enum(['gguf', 'safetensors']),
  /** What the engine opens: a .gguf file (also without that ending) or a folder. */
  path: z.string(),
  bytes: z.number(),
});
export type ExternalModel = z.infer<typeof ExternalModel>;

export const ModelDetails = z.object({
  modelId: ModelId,
  /** Ownership of the files: built in, downloaded, made here of another model, or of another program and used in place. */
  ownership: z.enum(['built-in', 'downloaded', 'made', 'external', 'preset']),
  origin: z.object({ source: z.string(), repository: z.string(), commit: z.string() }).nullable(),
  bytes: z.number(),
  /** Bytes on disk that removing it would free. */
  frees: z.number(),
  /** When all files last matched their published hashes. */
  checkedAt: z.number().nullable(),
  /** What it cost to make it of another model, if its card lies beside it. */
  quality: ModelQuality.nullable(),
});
export type ModelDetails = z.infer<typeof ModelDetails>;

export const Removed = z.object({ model: ModelEntry, freed: z.number() });
export type Removed = z.infer<typeof Removed>;

export const Checked = z.object({
  modelId: ModelId,
  bytes: z.number(),
  /** Names of files that do not match their published hashes. */
  damaged: z.array(z.string()),
  /** Bytes that a repair would download. */
  again: z.number(),
});
export type Checked = z.infer<typeof Checked>;
