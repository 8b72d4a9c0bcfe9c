import { blockMeans, type Estimate, meanOf, shareOf } from '../protocol/index.ts';
import { exponential } from './perplexity.ts';
import type { Reference } from './reference-file.ts';
import type { Scorer } from './scorer.ts';
import { type Step, straight } from './step.ts';
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
  /** Mean divergences of the blocks of the text. */
  blocks: number[];
  tokens: number;
};

/** How far a model is from a reference recorded with the same windows. */
export async function divergenceOf(
  score: Scorer,
  windows: readonly Window[],
  reference: Reference,
  progress: (done: number) => void = () => {},
  step: Step = straight,
): Promise<Divergence> {
  const klds: number[] = [];
  const losses: number[] = [];
  let same = 0;
  for (const [at, window] of windows.entries()) {
    const first = klds.length;
    const found = await step(`comparison ${at}`, () => compared(score, window, reference, first));
    for (const kld of found.klds) klds.push(kld);
    for (const loss of found.losses) losses.push(loss);
    same += found.same;
    progress(klds.length);
  }
  return {
    kld: meanOf(klds),
    kld99: klds.toSorted((a, b) => a - b)[Math.floor(0.99 * (klds.length - 1))] ?? Number.NaN,
    sameTop: shareOf(same, klds.length),
    perplexity: exponential(meanOf(losses)),
    referencePerplexity: exponential(meanOf([...reference.tokenLogprobs].map((logprob) => -logprob))),
    blocks: blockMeans(klds),
    tokens: klds.length,
  };
}

/** One window, whose first position is `first` in the reference. */
async function compared(score: Scorer, { tokens, from }: Window, { top, ids, logprobs }: Reference, first: number) {
  const count = tokens.length - from;
  const expected = ids.subarray(first * top, (first + count) * top);
  const scores = await score(tokens, { from, top: 1, at: [...expected] });
  const klds: number[] = [];
  const losses: number[] = [];
  let same = 0;
  for (let at = 0; at < count; ++at) {
    const row = (first + at) * top;
    klds.push(kldOf(logprobs.subarray(row, row + top), scores.atLogprobs.subarray(at * top, (at + 1) * top)));
    same += Number(scores.top[at] === expected[at * top]);
    losses.push(-(scores.logprobs[at] as number));
  }
  return { klds, losses, same };
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
