import { z } from 'zod';
import { SamplingSettings } from '../chat/chat.ts';
import { Failure } from '../errors.ts';
import { ChatId, ModelId, TurnId } from '../ids.ts';
import { RunsElsewhere } from './elsewhere.ts';

export const LayerKind = z.object({
  kind: z.enum(['attention', 'gated-delta', 'lightning', 'sparse', 'short-conv', 'latent', 'encoder']),
  experts: z.boolean(),
});

/** What a model takes in memory, in bytes: the parts of the engine's own plan (native/engine/memory_plan.h), from which
 *  `forecast` adds up any context. */
export const MemoryNeeds = z.object({
  weights: z.number(),
  contextPerToken: z.object({ f32: z.number(), f16: z.number(), q8: z.number(), q4: z.number() }),
  states: z.number(),
  /** Copies of the states, as many as an answer keeps at most. */
  snapshots: z.number(),
  /** The largest pass: what it takes whatever it reads, what it takes for each token, and how many it has. */
  pass: z.number(),
  passPerToken: z.number(),
  passTokens: z.number(),
  /** What a pass decodes of the context. */
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
  /** Null where the engine has not planned it: not supported, or told by an earlier version. */
  memory: MemoryNeeds.nullable().default(null),
  mtp: z.boolean(),
  encoder: z.boolean(),
  /** Scores a question and a passage together, and gives no vectors. */
  reranker: z.boolean().default(false),
  /** Of a model that sees pictures: their token, and how many patches a side become one. */
  vision: z.object({ token: z.number(), merge: z.number() }).nullable().default(null),
});
export type ModelDescription = z.infer<typeof ModelDescription>;

/** What was read and is kept in memory and on disk, so that it need not be read again. */
export const PromptCacheUse = z.object({
  bytes: z.number(),
  budgetBytes: z.number(),
  diskBytes: z.number(),
  /** Of the tokens of all prompts of chats in the last seven days, how many were known; null when there was none. */
  hitShare: z.number().min(0).max(1).nullable(),
});
export type PromptCacheUse = z.infer<typeof PromptCacheUse>;

/** What the user set for one model; what is not set follows Settings, then the model's own files. */
export const ModelSettings = z.object({
  sampling: SamplingSettings.default({}),
  /** Used in the place of the model's chat template. */
  template: z.string().min(1).max(200_000).nullable().default(null),
  contextLength: z.number().int().min(256).max(2_000_000).nullable().default(null),
  /** A device id. */
  device: z.string().max(100).nullable().default(null),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

export const ModelEntry = z.object({
  id: ModelId,
  name: z.string(),
  /** Where its files are; null for the built-in one. */
  path: z.string().nullable(),
  builtIn: z.boolean(),
  /** Files of somebody else, used where they are. */
  external: z.boolean(),
  missing: z.boolean(),
  /** Missing because its drive or folder is: it may come back at any moment. */
  unmounted: z.boolean(),
  lastUsedAt: z.number().nullable(),
  description: ModelDescription.nullable(),
  /** Whether the template can think, and does so by default. */
  thinking: z.object({ able: z.boolean(), byDefault: z.boolean() }).nullable(),
  settings: ModelSettings,
  /** The model whose files a preset uses. */
  presetOf: ModelId.nullable(),
  /** Of a model that runs on an engine elsewhere: where that is. */
  elsewhere: RunsElsewhere.nullable().default(null),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

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

/** The device that is computed on: the chosen one, or the first that is there (a list has those first that are chosen by
 *  themselves; Vulkan, which may be a driver in software, only runs where it was asked for). */
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
  /** Why the CPU answers in the place of the GPU: what the GPU failed with. */
  fallbackReason: z.string().optional(),
  /** Kernels of the GPU that are compiled in the background; absent when all are. A question need not wait for it. */
  compilingKernels: z.object({ done: z.number().int(), total: z.number().int() }).optional(),
};

//  idle ──load──▶ loading ──▶ ready ◀──▶ busy          any ──process ends──▶ restarting ──▶ idle | stopped
export const EngineStatus = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('idle') }),
  z.object({ phase: z.literal('loading'), modelId: ModelId, done: z.number(), total: z.number() }),
  z.object({ phase: z.literal('ready'), ...inMemory }),
  /** `writing`: the turns that are being written, the one that began first in front, and where they are the answers of
   *  chats. Other turns wait for them. */
  z.object({
    phase: z.literal('busy'),
    ...inMemory,
    writing: z.array(z.object({ turnId: TurnId, chatId: ChatId.optional() })),
  }),
  z.object({ phase: z.literal('restarting'), attempt: z.number().int(), waitMs: z.number() }),
  /** Three ends in five minutes: no more restarts by itself. */
  z.object({ phase: z.literal('stopped'), failure: Failure }),
]);
export type EngineStatus = z.infer<typeof EngineStatus>;
