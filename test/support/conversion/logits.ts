// What a model computes, and how far one is from another.
import { addon } from '../addon.ts';
import { someTokens } from '../models/models.ts';

/** Of every position of a prompt of `count` tokens, on the exact path. */
export async function logitsOf(path: string, count = 40): Promise<Float32Array> {
  const model = await addon.load(path, { device: 'cpu' });
  const { data } = await model.createSession({ path: 'exact' }).logits(someTokens(count), { all: true });
  model.close();
  return data;
}

/** Relative: what is in the wrong place is off by one and more. */
export function deviation(was: Float32Array, is: Float32Array): number {
  const off = was.reduce((sum, value, at) => sum + (value - (is[at] ?? Number.NaN)) ** 2, 0);
  return Math.sqrt(off / was.reduce((sum, value) => sum + value * value, 0));
}
