import { type Estimate, meanOf, shareOf } from './interval.ts';
import { exponential } from './perplexity.ts';
import type { Reference } from './reference-file.ts';
import type { Scorer } from './scorer.ts';
import type { Window } from './windows.ts';

export type Divergence = {
  /** Kullback-Leibler divergence from the reference to the model, in nats per token: over the reference's likeliest tokens one
   *  by one, and all others as one: a lower bound of the full divergence. */
  kld: Estimate;
  /** The 99th percentile over tokens. */
  kld99: number;
  /** Share of positions with the same top-1 token. */
  sameTop: Estimate;
  perplexity: Estimate;
  referencePerplexity: Estimate;
  tokens: number;
};

/** How far a model is from a reference recorded with the same windows. */
export async function divergenceOf(
  score: Scorer,
  windows: readonly Window[],
  reference: Reference,
  progress: (done: number) => void = () => {},
): Promise<Divergence> {
  const { top } = reference;
  const klds: number[] = [];
  const losses: number[] = [];
  const theirs: number[] = [];
  let same = 0;
  for (const { tokens, from } of windows) {
    const first = klds.length;
    const count = tokens.length - from;
    const ids = reference.ids.subarray(first * top, (first + count) * top);
    const scores = await score(tokens, { from, top: 1, at: [...ids] });
    for (let at = 0; at < count; ++at) {
      const row = (first + at) * top;
      klds.push(
        kldOf(reference.logprobs.subarray(row, row + top), scores.atLogprobs.subarray(at * top, (at + 1) * top)),
      );
      same += Number(scores.top[at] === ids[at * top]);
      losses.push(-(scores.logprobs[at] as number));
      theirs.push(-(reference.tokenLogprobs[first + at] as number));
    }
    progress(klds.length);
  }
  return {
    kld: meanOf(klds),
    kld99: klds.toSorted((a, b) => a - b)[Math.floor(0.99 * (klds.length - 1))] ?? Number.NaN,
    sameTop: shareOf(same, klds.length),
    perplexity: exponential(meanOf(losses)),
    referencePerplexity: exponential(meanOf(theirs)),
    tokens: klds.length,
  };
}

/** KLD of two distributions known at the same tokens; the others count as one. */
export function kldOf(reference: ArrayLike<number>, model: ArrayLike<number>): number {
  let kld = 0;
  let known = 0;
  let modelKnown = 0;
  for (let at = 0; at < reference.length; ++at) {
    const p = Math.exp(reference[at] as number);
    kld += p * ((reference[at] as number) - (model[at] as number));
    known += p;
    modelKnown += Math.exp(model[at] as number);
  }
  const rest = 1 - known;
  const modelRest = Math.max(1 - modelKnown, 1e-9);
  // Rounding alone can leave a rest of some millionths where the known tokens are all there is.
  return Math.max(0, rest > 1e-6 ? kld + rest * Math.log(rest / modelRest) : kld);
}
