import type { Reuse } from '../../../native/addon/index.d.ts';
import { reuseOf } from '../../engine/process/prompt/prompt-reuse.ts';

/** A table of the parts of a prompt, from first token to last: taken from the cache, read again although known, and
 *  why, or new, and from which word on. */
export function cacheReport(
  reuse: Reuse,
  prompt: readonly number[],
  decode: ((ids: readonly number[]) => string) | null,
): string {
  const { miss, differs } = reuseOf(reuse, prompt, decode ?? ((ids) => ids.join()));
  const read = reuse.tokens + (miss?.tokens ?? 0);
  const rows: [from: number, to: number, what: string][] = [
    [0, reuse.tokens, 'cached'],
    [reuse.tokens, read, miss ? `read again: ${REASONS[miss.reason]}` : ''],
    [
      read,
      reuse.requested,
      differs ? `read, new from token ${differs.token + 1} on: ${JSON.stringify(differs.text)}` : 'read',
    ],
  ];
  const cells = rows
    .filter(([from, to]) => to > from)
    .map(([from, to, what]) => [`${from + 1}-${to}`, String(to - from), what] as const);
  const width = (column: 0 | 1, title: string) => Math.max(title.length, ...cells.map((row) => row[column].length));
  const [span, count] = [width(0, 'tokens'), width(1, 'count')];
  const line = ([tokens, number, what]: readonly [string, string, string]) =>
    `${tokens.padEnd(span)}  ${number.padStart(count)}  ${what}`.trimEnd();
  return [line(['tokens', 'count', '']), ...cells.map(line)].join('\n');
}

const REASONS = {
  boundary: 'reading starts at the end of a message or at a multiple of 512',
  evicted: 'their memory was needed for something else',
  unread: 'the answer was not in the cache yet',
  path: 'they are cached for another numeric path only',
};
