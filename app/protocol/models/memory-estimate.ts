import { z } from 'zod';
import type { MemoryNeeds, ModelDescription } from './engine.ts';

/** The limits of this machine. */
export const Machine = z.object({
  /** Memory for a model: Metal's working-set limit, or free memory within the cgroup. */
  limitBytes: z.number(),
  /** Measured read bandwidth in bytes per second; null until measured. */
  bandwidth: z.number().nullable(),
  /** Free bytes on the volume of the library. */
  diskFree: z.number(),
});
export type Machine = z.infer<typeof Machine>;

type Limits = Pick<Machine, 'limitBytes' | 'bandwidth'>;

export type Forecast = {
  weights: number;
  context: number;
  state: number;
  activations: number;
  headroom: number;
  total: number;
  verdict: 'fits' | 'tight' | 'too-large';
  /** Estimated from bytes read per token and bandwidth. */
  tokensPerSecond: number | null;
  /** The longest context that fits. */
  longestContext: number;
};

/** Bytes of a KV cache relative to f16. */
export const KV_SCALE = { f32: 2, f16: 1, q8: 0.53125, q4: 0.28125 } as const;
export type KvType = keyof typeof KV_SCALE;
/** The engine process without a model, and the tokenizer's memory per vocabulary entry: measured (README). */
const PROCESS = 114 * 1024 * 1024;
const WORD_BYTES = 900;
const FITS = 0.85;
/** Share of the bandwidth that decoding reaches. */
const EFFICIENCY = 0.75;

/** Whether a model runs well here: the engine's memory plan compared with live memory. Pure, so that a slider can
 *  recompute every row of a list on every move. */
export function forecast(
  model: ModelDescription,
  machine: Limits,
  options: { contextLength: number; kvType?: KvType },
): Forecast {
  const needs = needsOf(model);
  const perToken = needs.contextPerToken[options.kvType ?? 'f16'];
  const length = Math.min(options.contextLength, model.contextLength);
  const headroom = PROCESS + WORD_BYTES * model.vocabularySize;
  const state = needs.states + needs.snapshots;
  const activations = activationsOf(needs, length);
  const context = perToken * length;
  const total = needs.weights + state + activations + headroom + context;
  const fixed = needs.weights + state + headroom + needs.pass + needs.passPerToken * needs.passTokens;
  const read = model.activeBytes + model.stateBytes * 2 + context / 2;
  return {
    weights: needs.weights,
    context,
    state,
    activations,
    headroom,
    total,
    verdict: total < FITS * machine.limitBytes ? 'fits' : total <= machine.limitBytes ? 'tight' : 'too-large',
    tokensPerSecond: machine.bandwidth === null ? null : (machine.bandwidth * EFFICIENCY) / read,
    longestContext: longestThatFits(machine.limitBytes - fixed, perToken + needs.scratchPerToken, model.contextLength),
  };
}

/** KV cache bytes per token of context. */
export const kvBytesPerToken = (model: ModelDescription, kvType: KvType): number =>
  needsOf(model).contextPerToken[kvType];

const activationsOf = (needs: MemoryNeeds, length: number): number =>
  needs.pass + needs.passPerToken * Math.min(needs.passTokens, length) + needs.scratchPerToken * length;

/** For a model known by its shape alone: state snapshots, tokens per pass, and activations per token, the
 *  widest as a multiple of the hidden size. */
const SNAPSHOTS = 6;
const PASS_TOKENS = 512;
const WIDEST = 14;

/** The engine's plan; if it has not seen the headers, an estimate from the shape. */
function needsOf({ memory, ...shape }: ModelDescription): MemoryNeeds {
  if (memory) return memory;
  const perToken = (kvType: KvType) => shape.contextBytesPerToken * KV_SCALE[kvType];
  return {
    weights: shape.weightBytes,
    contextPerToken: { f32: perToken('f32'), f16: perToken('f16'), q8: perToken('q8'), q4: perToken('q4') },
    states: shape.stateBytes,
    snapshots: SNAPSHOTS * shape.stateBytes,
    pass: shape.vocabularySize * 4,
    passPerToken: shape.hiddenSize * WIDEST * 4,
    passTokens: PASS_TOKENS,
    scratchPerToken: 0,
  };
}

function longestThatFits(free: number, perToken: number, most: number): number {
  if (free < 0) return 0;
  return perToken === 0 ? most : Math.min(most, Math.floor(free / perToken));
}
