// Golden cases: what a reference implementation computed for a model, compared with what the engine computes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Model, Session } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../addon.ts';
import { asFloats, readSafetensors } from './formats.ts';
import { distinct, TILED } from './instructions.ts';

export interface Prompt {
  name: string;
  ids: Int32Array;
  greedy?: number[];
}
export interface Case {
  folder: string;
  prompts: Prompt[];
  logitsTolerance: number;
  stateTolerance: number;
  expected: (name: string) => Float32Array | undefined;
  expectedNames: string[];
}

/** Every instruction set of this processor; `test/golden` judges the exact path under each. */
export const instructionSets: string[] = distinct(
  (addon.testing as unknown as { cpuInstructions(): string[] }).cpuInstructions(),
).filter((name) => !TILED.includes(name));

type StoredPrompt = number[] | { ids: number[]; greedy?: number[] };

export function readCase(name: string): Case {
  const folder = join(golden, name);
  const facts = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as {
    prompts: Record<string, StoredPrompt>;
    tolerance: { logits_max_abs_fp32: number; states_max_abs_fp32?: number };
  };
  const tensors = readSafetensors(readFileSync(join(folder, 'expected.safetensors')));
  const prompts = Object.entries(facts.prompts).map(([prompt, stored]): Prompt => {
    const { ids, greedy } = Array.isArray(stored) ? { ids: stored, greedy: undefined } : stored;
    return { name: prompt, ids: Int32Array.from(ids), ...(greedy === undefined ? {} : { greedy }) };
  });
  return {
    folder,
    prompts,
    logitsTolerance: facts.tolerance.logits_max_abs_fp32,
    stateTolerance: facts.tolerance.states_max_abs_fp32 ?? facts.tolerance.logits_max_abs_fp32,
    expected: (tensor) => (tensors[tensor] === undefined ? undefined : asFloats(tensors[tensor].bytes)),
    expectedNames: Object.keys(tensors),
  };
}

/** Infinite if the lengths differ or a value is NaN, so that no tolerance lets it pass. */
export function largestDifference(got: Float32Array, wanted: Float32Array): number {
  if (got.length !== wanted.length) return Number.POSITIVE_INFINITY;
  let largest = 0;
  for (let i = 0; i < got.length; i++) {
    const difference = Math.abs((got[i] ?? Number.NaN) - (wanted[i] ?? Number.NaN));
    if (!(difference <= largest)) largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  return largest;
}

export function required(reference: Case, tensor: string): Float32Array {
  const found = reference.expected(tensor);
  if (found === undefined) throw new Error(`the golden case has no ${tensor}`);
  return found;
}

export const exactSession = (model: Model): Session => model.createSession({ path: 'exact' });

/** The logits at every position, with the prompt read at once and in chunks of 1, 37 and half its length. */
export async function checkLogits(model: Model, reference: Case, prefix = 'logits.'): Promise<void> {
  for (const prompt of reference.prompts) {
    const wanted = required(reference, `${prefix}${prompt.name}`);
    const half = Math.max(1, Math.floor(prompt.ids.length / 2));
    const session = exactSession(model);
    for (const chunk of new Set([prompt.ids.length, 1, 37, half])) {
      const got = await session.logits(prompt.ids, { all: true, chunk });
      const label = `${prompt.name} in chunks of ${chunk}`;
      expect(largestDifference(got.data, wanted), label).toBeLessThanOrEqual(reference.logitsTolerance);
    }
    session.close();
  }
}

/** The residual stream after the embedding, every layer and the final norm, if the case has it. */
export async function checkHidden(model: Model, reference: Case): Promise<void> {
  for (const prompt of reference.prompts) {
    if (reference.expected(`hidden.${prompt.name}.0`) === undefined) continue;
    const session = exactSession(model);
    for (const { name, data } of await session.trace(prompt.ids)) {
      const layer = name === 'embedding' ? '0' : name.startsWith('layer.') ? `${Number(name.slice(6)) + 1}` : name;
      const wanted = reference.expected(`hidden.${prompt.name}.${layer}`);
      if (wanted === undefined && layer === 'final_norm') continue;
      const difference = wanted === undefined ? Number.NaN : largestDifference(data, wanted);
      expect(difference, `${prompt.name} ${name}`).toBeLessThanOrEqual(reference.logitsTolerance);
    }
    session.close();
  }
}

/** The reference's [channels, kernel] without its oldest column, in the engine's layout [kernel - 1, channels]. */
function convWindow(wanted: Float32Array, channels: number, kept: number): Float32Array {
  const kernel = wanted.length / channels;
  const window = new Float32Array(kept * channels);
  for (let c = 0; c < channels; c++) {
    for (let t = 0; t < kept; t++) window[t * channels + c] = wanted[c * kernel + (kernel - kept) + t] ?? Number.NaN;
  }
  return window;
}

/** The recurrent and convolution states after the prompt, if the case has them. */
export async function checkStates(model: Model, reference: Case): Promise<void> {
  for (const prompt of reference.prompts) {
    if (!reference.expectedNames.some((name) => name.startsWith(`state.${prompt.name}.`))) continue;
    const session = exactSession(model);
    await session.logits(prompt.ids, { chunk: 37 });
    for (const { layer, kind, shape, data } of await session.states()) {
      const stored = reference.expected(`state.${prompt.name}.layer${layer}.${kind}`);
      if (stored === undefined) continue;
      const [kept = 0, channels = 0] = shape;
      const wanted = kind === 'conv' ? convWindow(stored, channels, kept) : stored;
      expect(largestDifference(data, wanted), `${prompt.name} layer ${layer} ${kind}`).toBeLessThanOrEqual(
        reference.stateTolerance,
      );
    }
    session.close();
  }
}

/** The greedy continuation, token for token. */
export async function checkGreedy(model: Model, reference: Case): Promise<void> {
  for (const prompt of reference.prompts) {
    if (prompt.greedy === undefined) continue;
    const session = exactSession(model);
    const { tokens } = await session.generate(prompt.ids, { maxTokens: prompt.greedy.length, path: 'exact' });
    expect(tokens, prompt.name).toEqual(prompt.greedy);
    session.close();
  }
}
