import { z } from 'zod';
import type { ModelDescription } from './engine.ts';

/** What a model has to fit into. */
export const Machine = z.object({
  /** What a model may take: Metal's working-set limit, or the memory that is free within the cgroup. */
  limitBytes: z.number(),
  /** Measured read bandwidth in bytes a second; null until it was measured. */
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
  /** An estimate: bytes a token reads over the bandwidth. */
  tokensPerSecond: number | null;
  /** The longest context that still fits, for the safe alternative. */
  longestContext: number;
};

/** Bytes of a KV cache relative to f16. */
export const KV_SCALE = { f32: 2, f16: 1, q8: 0.53125, q4: 0.28125 } as const;
/** The engine process before it holds a model, and what its tokenizer keeps of each word it knows: measured (README). */
const PROCESS = 114 * 1024 * 1024;
const WORD_BYTES = 900;
/** The states of linear layers, with the copies that an answer takes while it is written: measured too. What is kept for later
 *  has a budget of its own. */
const STATE_COPIES = 3;
const COPIED_EVERY = 256;
/** Tokens in flight in a prefill chunk; each holds a few rows of activations, the widest about 14 times the hidden size. */
const PREFILL_TOKENS = 512;
const ACTIVATION_ROWS = 14;
const FITS = 0.85;
/** Share of the bandwidth that decoding reaches. */
const EFFICIENCY = 0.75;

/** Whether a model runs well here: all of it in bytes, from headers and live memory. Pure, so that a slider can ask for
 *  every row of a list at every move. */
export function forecast(
  model: ModelDescription,
  machine: Limits,
  options: { contextLength: number; kvType?: keyof typeof KV_SCALE },
): Forecast {
  const perToken = model.contextBytesPerToken * KV_SCALE[options.kvType ?? 'f16'];
  const length = Math.min(options.contextLength, model.contextLength);
  const headroom = PROCESS + WORD_BYTES * model.vocabularySize;
  const state = stateOf(model, length);
  const activations = activationsOf(model, length);
  const context = perToken * length;
  const total = model.weightBytes + state + activations + headroom + context;
  const { contextLength: most } = model;
  const atMost = model.weightBytes + stateOf(model, most) + activationsOf(model, most) + headroom;
  const read = model.activeBytes + model.stateBytes * 2 + context / 2;
  return {
    weights: model.weightBytes,
    context,
    state,
    activations,
    headroom,
    total,
    verdict: total < FITS * machine.limitBytes ? 'fits' : total <= machine.limitBytes ? 'tight' : 'too-large',
    tokensPerSecond: machine.bandwidth === null ? null : (machine.bandwidth * EFFICIENCY) / read,
    longestContext: longestThatFits(machine.limitBytes - atMost, perToken, most),
  };
}

const stateOf = (model: ModelDescription, length: number): number =>
  model.stateBytes * Math.min(STATE_COPIES, 1 + Math.ceil(length / COPIED_EVERY));

function activationsOf(model: ModelDescription, length: number): number {
  return Math.min(PREFILL_TOKENS, length) * model.hiddenSize * ACTIVATION_ROWS * 4 + model.vocabularySize * 4;
}

function longestThatFits(free: number, perToken: number, most: number): number {
  if (free < 0) return 0;
  return perToken === 0 ? most : Math.min(most, Math.floor(free / perToken));
}
