import type * as Addon from '../../../../native/addon/index.d.ts';
import type { Tokenizer } from '../../../text/tokenizer/tokenizer.ts';
import type { TokenLogprob, TokenScore } from '../../ipc-protocol.ts';

/** Replaces minus infinity, which JSON lacks, for tokens forbidden by a grammar or a rule. */
const IMPOSSIBLE = -9999;

export type Token = Pick<Addon.TokenEvent, 'id' | 'logprob' | 'top'>;

/** A token's log-probability with alternatives; empty if not requested (null). */
export function scored({ bytes }: Pick<Tokenizer, 'bytes'>, token: Token, alternatives: number | null): TokenScore[] {
  const { id, logprob, top = [] } = token;
  if (alternatives === null || logprob === undefined) return [];
  const told = (one: { id: number; logprob: number }): TokenLogprob => ({
    bytes: [...bytes.of(one.id)],
    logprob: Math.max(one.logprob, IMPOSSIBLE),
  });
  return [{ ...told({ id, logprob }), top: top.slice(0, alternatives).map(told) }];
}
