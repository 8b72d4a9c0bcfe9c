import type { Reuse } from '../../../../native/addon/index.d.ts';
import type { Usage } from '../../../protocol/index.ts';

/** Cache figures for the usage of an answer: known tokens that were prefilled again, and where the prompt first differs
 *  from everything known. `decode`: the text of tokens. */
export function reuseOf(
  reuse: Reuse,
  prompt: ArrayLike<number>,
  decode: (ids: readonly number[]) => string,
): Pick<Usage, 'miss' | 'differs'> {
  const again = Math.min(reuse.known, reuse.requested - 1) - reuse.tokens;
  const token = prompt[reuse.known];
  return {
    ...(again > 0 &&
      reuse.reason !== 'nothing' &&
      reuse.reason !== 'cold' && { miss: { tokens: again, reason: reuse.reason } }),
    ...(reuse.differs &&
      reuse.known > 0 &&
      token !== undefined && { differs: { token: reuse.known, text: decode([token]).slice(0, LONGEST_TEXT) } }),
  };
}

const LONGEST_TEXT = 80;
