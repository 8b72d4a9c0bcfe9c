// The golden case of the vision tower: two pictures, and prompts with text before, between and after them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Model, Picture, Session } from '../../../native/addon/index.d.ts';
import { golden } from '../addon.ts';
import { largestDifference, readCase, required } from './golden.ts';

export const folder: string = join(golden, 'qwen3_5_vision', 'two_images');
export const reference = readCase('qwen3_5_vision/two_images');
const facts = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as {
  images: Record<string, { grid_thw: number[] }>;
  prompts: Record<string, { ids: number[]; images: string[]; greedy: number[] }>;
};

export type PicturePrompt = { name: string; ids: Int32Array; images: string[]; greedy: number[] };
export const prompts: PicturePrompt[] = Object.entries(facts.prompts).map(([name, { ids, ...rest }]) => ({
  name,
  ids: Int32Array.from(ids),
  ...rest,
}));
export const two: PicturePrompt =
  prompts.find(({ name }) => name === 'two') ?? expect.fail('the golden case has a prompt with two pictures');

export const picture = (name: string): Picture => ({
  pixels: required(reference, `pixels.${name}`),
  grid: facts.images[name]?.grid_thw ?? [],
});
export const pictures = (names: string[]): Picture[] => names.map(picture);

/** Each row minus its mean, which is all that the following norm sees. */
function centered(rows: Float32Array, columns: number): Float32Array {
  const out = Float32Array.from(rows);
  for (let row = 0; row < rows.length; row += columns) {
    const mean = rows.subarray(row, row + columns).reduce((sum, x) => sum + x, 0) / columns;
    for (let i = row; i < row + columns; i++) out[i] = (rows[i] ?? Number.NaN) - mean;
  }
  return out;
}

/** `whole`: rows of the tower include their mean, as on the CPU. */
export async function checkTower(model: Model, whole = true): Promise<void> {
  const names = Object.keys(facts.images);
  for (const name of names) {
    const { pixels, grid } = picture(name);
    const grids = Int32Array.from(grid);
    const { data, columns } = await model.see(pixels, grids, { merged: false });
    const wanted = required(reference, `vision.${name}.last_block`);
    const off = whole
      ? largestDifference(data, wanted)
      : largestDifference(centered(data, columns), centered(wanted, columns));
    expect(off, name).toBeLessThan(4e-5);
    const merged = await model.see(pixels, grids);
    expect(largestDifference(merged.data, required(reference, `vision.${name}.merged`)), name).toBeLessThan(4e-5);
  }
  const all = pictures(names);
  const together = await model.see(
    Float32Array.from(all.flatMap(({ pixels }) => Array.from(pixels))),
    Int32Array.from(all.flatMap(({ grid }) => grid)),
  );
  const wanted = names.flatMap((name) => Array.from(required(reference, `vision.${name}.merged`)));
  expect(largestDifference(together.data, Float32Array.from(wanted)), 'in one pass').toBeLessThan(4e-5);
}

/** The fast path may round queries, keys, values and weights of attention to bf16, in every block. */
const ROUNDED = 0.02;

/** The tower on the fast path of a CPU. */
export async function checkFastTower(model: Model): Promise<void> {
  const all = Object.entries(facts.images).map(([name]) => ({ name, ...picture(name) }));
  const apart: number[] = [];
  for (const { name, pixels, grid } of all) {
    const { data } = await model.see(pixels, Int32Array.from(grid), { path: 'fast' });
    const wanted = required(reference, `vision.${name}.merged`);
    const largest = wanted.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    expect(largestDifference(data, wanted) / largest, name).toBeLessThan(ROUNDED);
    apart.push(...data);
  }
  const together = await model.see(
    Float32Array.from(all.flatMap(({ pixels }) => Array.from(pixels))),
    Int32Array.from(all.flatMap(({ grid }) => grid)),
    { path: 'fast' },
  );
  expect(Array.from(together.data), 'in one pass').toEqual(apart);
}

/** Logits at every position, for each prompt in chunks of each of these lengths. */
export async function checkPrompts(session: Session, chunks: (length: number) => number[]): Promise<void> {
  for (const { name, ids, images } of prompts) {
    for (const chunk of new Set(chunks(ids.length))) {
      const { data } = await session.logits(ids, { all: true, chunk, pictures: pictures(images) });
      expect(
        largestDifference(data, required(reference, `logits.${name}`)),
        `${name} in chunks of ${chunk}`,
      ).toBeLessThanOrEqual(reference.logitsTolerance);
    }
  }
}

/** Greedy tokens with their log probabilities, which depend on every bit of the state behind them. */
export async function answer(
  model: Model,
  ids: Int32Array,
  shown: Picture[],
  session: Session = model.createSession({ path: 'exact' }),
) {
  const seen: (number | undefined)[] = [];
  const result = await session.generate(ids, {
    maxTokens: 8,
    logprobs: 1,
    stopTokens: [196],
    pictures: shown,
    onTokens: (tokens) => seen.push(...tokens.flatMap(({ id, logprob }) => [id, logprob])),
  });
  return { ...result.timings, reuse: result.reuse, seen, session };
}

/** The tower, the logits and the cache on a back end other than the CPU. */
export function goldenVision(title: string, load: (path: string) => Promise<Model>): void {
  test(`${title} pictures are what the reference sees, and from the cache they are the same bits`, {
    timeout: 240_000,
  }, async () => {
    const model = await load(folder);
    await checkTower(model, false);
    await checkPrompts(model.createSession({ path: 'exact' }), (length) => [length, 16]);
    const shown = pictures(two.images);
    const cold = await answer(model, two.ids, shown);
    model.setPromptCache(64_000_000);
    await answer(model, two.ids, shown);
    const again = await answer(model, two.ids, shown);
    expect(again.cachedTokens).toBe(two.ids.lastIndexOf(196) + 1);
    expect(again.seen).toEqual(cold.seen);
    model.close();
  });
}
