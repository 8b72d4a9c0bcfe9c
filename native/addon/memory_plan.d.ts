/** What a model takes in memory (native/engine/memory_plan.h). */

/** All that a memory plan is computed from, in bytes (native/engine/memory_plan.h). */
export interface MemoryNeeds {
  /** As the CPU keeps them. */
  weights: number;
  /** Keys, values and latents. */
  contextPerToken: { f32: number; f16: number; q8: number; q4: number };
  /** Recurrent and convolution states, and the copies of them that a session may keep by itself. */
  states: number;
  snapshots: number;
  /** A pass takes the first whatever it reads, and the second for each token, of which a pass over a prompt has so many. */
  pass: number;
  passPerToken: number;
  passTokens: number;
  /** What a pass decodes of a cache, for each token of the context. */
  scratchPerToken: number;
}

/** In bytes: what the engine allocates for a model, at most. */
export interface MemoryPlan {
  weights: number;
  context: number;
  states: number;
  snapshots: number;
  activations: number;
  scratch: number;
  cache: number;
  total: number;
}

export interface PlanOptions {
  contextLength?: number;
  kvType?: 'f32' | 'f16' | 'q8' | 'q4';
  /** Tokens of the largest pass; default those of a prompt. */
  rows?: number;
  sessions?: number;
  cacheBytes?: number;
}
