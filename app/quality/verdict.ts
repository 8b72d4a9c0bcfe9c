import { type Verdict, verdictOf } from '../protocol/index.ts';

const WORDS: Record<Verdict, string> = {
  same: 'hardly different',
  slight: 'slightly different',
  little: 'a little weaker',
  clear: 'clearly weaker',
  much: 'much weaker',
  broken: 'broken',
};

/** A divergence in nats per token in words. */
export const wordOf = (kld: number): string => WORDS[verdictOf(kld)];
