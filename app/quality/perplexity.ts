import { blockMeans, type Estimate, meanOf } from '../protocol/index.ts';
import type { Scorer } from './scorer.ts';
import { type Step, straight } from './step.ts';
import type { Window } from './windows.ts';

export type Perplexity = {
  perplexity: Estimate;
  /** The mean loss, in nats per token. */
  loss: Estimate;
  /** Mean losses of the blocks of the text. */
  blocks: number[];
  tokens: number;
};

export const positionsOf = (windows: readonly Window[]): number =>
  windows.reduce((sum, { tokens, from }) => sum + tokens.length - from, 0);

/** e to the mean of -ln p over every scored token. `progress` is told how many tokens are scored. */
export async function perplexityOf(
  score: Scorer,
  windows: readonly Window[],
  progress: (done: number) => void = () => {},
  step: Step = straight,
): Promise<Perplexity> {
  const losses: number[] = [];
  for (const [at, { tokens, from }] of windows.entries()) {
    const logprobs = await step(`window ${at}`, async () => (await score(tokens, { from })).logprobs);
    for (const logprob of logprobs) losses.push(-logprob);
    progress(losses.length);
  }
  const loss = meanOf(losses);
  return { perplexity: exponential(loss), loss, blocks: blockMeans(losses), tokens: losses.length };
}

export const exponential = ({ value, low, high }: Estimate): Estimate => ({
  value: Math.exp(value),
  low: Math.exp(low),
  high: Math.exp(high),
});
