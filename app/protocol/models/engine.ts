import { z } from 'zod';
import { SamplingSettings } from '../chat/chat.ts';
import { Failure } from '../errors.ts';
import { ChatId, ModelId, TurnId } from '../ids.ts';
import { RemoteRuntime } from './remote-engines.ts';

export const LayerKind = z.object({
  kind: z.enum(['attention', 'gated-delta', 'lightning', 'sparse', 'short-conv', 'latent', 'encoder']),
  experts: z.boolean(),
});

/** Memory of a model in bytes: the parts of the engine's own plan (native/engine/memory_plan.h), from which
 *  `forecast` computes any context. */
export const MemoryNeeds = z.object({
  weights: z.number(),
  contextPerToken: z.object({ f32: z.number(), f16: z.number(), q8: z.number(), q4: z.number() }),
  states: z.number(),
  /** Maximum number of state snapshots of an answer. */
  snapshots: z.number(),
  /** The largest pass: constant part, part per token, and number of tokens. */
  pass: z.number(),
  passPerToken: z.number(),
  passTokens: z.number(),
  /** Scratch for decoding the KV cache. */
  scratchPerToken: z.number(),
});
export type MemoryNeeds = z.infer<typeof MemoryNeeds>;

/** Mirrors `Description` of the addon (native/addon/index.d.ts); a test holds them equal. */
export const ModelDescription = z.object({
  supported: z.boolean(),
  problems: z.array(z.string()),
  notices: z.array(z.string()),
  family: z.string(),
  container: z.enum(['safetensors', 'mlx', 'gguf']),
  layers: z.array(LayerKind),
  hiddenSize: z.number(),
  vocabularySize: z.number(),
  contextLength: z.number(),
  parameters: z.number(),
  weightBytes: z.number(),
  types: z.record(z.string(), z.number()),
  activeBytes: z.number(),
  stateBytes: z.number(),
  contextBytesPerToken: z.number(),
  /** Null if the engine has no plan: unsupported, or inspected by an earlier version. */
  memory: MemoryNeeds.nullable().default(null),
  mtp: z.boolean(),
  encoder: z.boolean(),
  /** A cross-encoder: scores pairs, yields no vectors. */
  reranker: z.boolean().default(false),
  /** For models with vision: the placeholder token, and the patches per side that become one token. */
  vision: z.object({ token: z.number(), merge: z.number() }).nullable().default(null),
});
export type ModelDescription = z.infer<typeof ModelDescription>;

/** Of the prompt cache on disk: encrypted with a key of the keychain; without a keychain only private; or not in use, because
 *  the keychain does not give the key. */
export const PromptCacheProtection = z.enum(['encrypted', 'private', 'locked']);
export type PromptCacheProtection = z.infer<typeof PromptCacheProtection>;

/** Use of the prompt cache in memory and on disk. */
export const PromptCacheUse = z.object({
  bytes: z.number(),
  budgetBytes: z.number(),
  diskBytes: z.number(),
  /** Null: it is off. */
  onDisk: PromptCacheProtection.nullable(),
  /** Share of cached tokens in all chat prompts of the last seven days; null if there were none. */
  hitShare: z.number().min(0).max(1).nullable(),
});
export type PromptCacheUse = z.infer<typeof PromptCacheUse>;

/** Settings of one model; unset ones follow Settings, then the model's own files. */
export const ModelSettings = z.object({
  sampling: SamplingSettings.default({}),
  /** Overrides the model's chat template. */
  template: z.string().min(1).max(200_000).nullable().default(null),
  contextLength: z.number().int().min(256).max(2_000_000).nullable().default(null),
  /** A device id. */
  device: z.string().max(100).nullable().default(null),
  /** Full path of the vision tower (mmproj) of a GGUF model; null: the one in the folder of the model, if there is one. */
  vision: z.string().min(1).max(4096).nullable().default(null),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

export const ModelEntry = z.object({
  id: ModelId,
  name: z.string(),
  /** Path of its files; null for the built-in one. */
  path: z.string().nullable(),
  builtIn: z.boolean(),
  /** Files of another program, used in place. */
  external: z.boolean(),
  missing: z.boolean(),
  /** Missing because its drive or folder is not mounted: it may return at any moment. */
  unmounted: z.boolean(),
  lastUsedAt: z.number().nullable(),
  description: ModelDescription.nullable(),
  /** Whether the template can think, and does so by default. */
  thinking: z.object({ able: z.boolean(), byDefault: z.boolean() }).nullable(),
  settings: ModelSettings,
  /** The model whose files a preset uses. */
  presetOf: ModelId.nullable(),
  /** Set for a remote model. */
  remote: RemoteRuntime.nullable().default(null),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

/** Whether the vision tower of a model is a file of its own: GGUF models of the families that see. */
export const takesVisionFile = ({ description }: Pick<ModelEntry, 'description'>): boolean =>
  description?.container === 'gguf' && ['qwen3_5', 'qwen3_5_moe'].includes(description.family);

export const Device = z.object({
  id: z.string(),
  backEnd: z.enum(['cpu', 'metal', 'vulkan']),
  available: z.boolean(),
  name: z.string(),
  detail: z.string(),
  tuning: z.string().optional(),
  memoryBytes: z.number(),
  unified: z.boolean(),
  reason: z.string().optional(),
});
export type Device = z.infer<typeof Device>;

/** The device in use: the chosen one, or else the first (the list begins with those that are chosen
 *  automatically; Vulkan, which may be a software driver, is only used if chosen). */
export function deviceInUse(devices: readonly Device[], chosen: string | null): Device | null {
  return (
    devices.find((device) => device.id === chosen && device.available) ??
    devices.find((device) => device.available) ??
    null
  );
}

const inMemory = {
  modelId: ModelId,
  backEnd: z.string(),
  memoryBytes: z.number(),
  contextLength: z.number(),
  /** Why the CPU is used instead of the GPU: the GPU's error. */
  fallbackReason: z.string().optional(),
  /** Progress of compiling GPU kernels in the background; absent when done. Requests need not wait for it. */
  compilingKernels: z.object({ done: z.number().int(), total: z.number().int() }).optional(),
};

//  idle ──load──▶ loading ──▶ ready ◀──▶ busy          any ──process ends──▶ restarting ──▶ idle | stopped
export const EngineStatus = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('idle') }),
  z.object({ phase: z.literal('loading'), modelId: ModelId, done: z.number(), total: z.number() }),
  z.object({ phase: z.literal('ready'), ...inMemory }),
  /** `writing`: the running turns, oldest first, and their chats if they are answers of
   *  chats. Other turns wait for them. */
  z.object({
    phase: z.literal('busy'),
    ...inMemory,
    writing: z.array(z.object({ turnId: TurnId, chatId: ChatId.optional() })),
  }),
  z.object({ phase: z.literal('restarting'), attempt: z.number().int(), waitMs: z.number() }),
  /** Three crashes in five minutes: no more automatic restarts. */
  z.object({ phase: z.literal('stopped'), failure: Failure }),
]);
export type EngineStatus = z.infer<typeof EngineStatus>;
