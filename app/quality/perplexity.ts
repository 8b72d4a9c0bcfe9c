import { type Estimate, meanOf } from './interval.ts';
import type { Scorer } from './scorer.ts';
import type { Window } from './windows.ts';

export type Perplexity = { perplexity: Estimate; tokens: number };

export const positionsOf = (windows: readonly Window[]): number =>
  windows.reduce((sum, { tokens, from }) => sum + tokens.length - from, 0);

/** e to the mean of -ln p over every scored token. `progress` is told how many tokens are scored. */
export async function perplexityOf(
  score: Scorer,
  windows: readonly Window[],
  progress: (done: number) => void = () => {},
): Promise<Perplexity> {
  const losses: number[] = [];
  for (const { tokens, from } of windows) {
    const { logprobs } = await score(tokens, { from });
    for (const logprob of logprobs) losses.push(-logprob);
    progress(losses.length);
  }
  return { perplexity: exponential(meanOf(losses)), tokens: losses.length };
}

export const exponential = ({ value, low, high }: Estimate): Estimate => ({
  value: Math.exp(value),
  low: Math.exp(low),
  high: Math.exp(high),
});
