import type { Reuse } from '../../../native/addon/index.d.ts';
import { reuseOf } from '../../engine/process/prompt/prompt-reuse.ts';

/** One line on what of a prompt was read and what was known, and why known tokens were read again. */
export function cacheReport(
  reuse: Reuse,
  prompt: readonly number[],
  decode: ((ids: readonly number[]) => string) | null,
): string {
  const { miss, differs } = reuseOf(reuse, prompt, decode ?? ((ids) => ids.join()));
  const parts = [`${reuse.requested - reuse.tokens} tokens read, ${reuse.tokens} cached`];
  if (differs) parts.push(`differs from token ${differs.token + 1} (${JSON.stringify(differs.text)})`);
  if (miss) parts.push(`${miss.tokens} read again: ${REASONS[miss.reason]}`);
  return parts.join('; ');
}

const REASONS = {
  boundary: 'reading starts at the end of a message or at a multiple of 512',
  evicted: 'their memory was needed for something else',
  unread: 'the answer was not in the cache yet',
  path: 'they are cached for another numeric path only',
};
