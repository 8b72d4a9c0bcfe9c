import type { RequestDifference, ServerTexts } from '../protocol/index.ts';

//  What makes a server read a prompt again is the first character that is not as it was. Programs often change one without
//  knowing: a clock in the instructions, tools in another order.

type Asked = ServerTexts['asked'];

/** Of `earlier`, the newest first, the one with the longest beginning in common counts. */
export function firstDifference(asked: Asked, earlier: readonly Asked[]): RequestDifference | null {
  let closest: Asked | null = null;
  let longest = 0;
  for (const one of earlier) {
    const shared = sharedLength(asked, one);
    if (shared > longest || closest === null) closest = one;
    longest = Math.max(longest, shared);
  }
  const at = closest ? placeOf(asked, closest) : 0;
  const [now, was] = [asked[at], closest?.[at]];
  if (!now || !was) return null;
  const offset = now.role === was.role ? commonLength(now.text, was.text) : 0;
  const begin = lineBegin(now.text, offset);
  return {
    role: now.role,
    before: now.text
      .slice(Math.max(0, begin - MAX_BEFORE), begin)
      .toWellFormed()
      .trim(),
    was: lineFrom(was.text, begin, offset),
    now: lineFrom(now.text, begin, offset),
  };
}

const MAX_BEFORE = 200;
/** Of a line, before the difference and from it on. */
const MAX_SAME = 80;
const MAX_OTHER = 200;

/** The first message that is another. */
function placeOf(asked: Asked, other: Asked): number {
  const at = asked.findIndex(({ role, text }, index) => role !== other[index]?.role || text !== other[index]?.text);
  return at === -1 ? asked.length : at;
}

function sharedLength(asked: Asked, other: Asked): number {
  const at = placeOf(asked, other);
  const same = asked.slice(0, at).reduce((sum, { text }) => sum + text.length + 1, 0);
  const [now, was] = [asked[at], other[at]];
  return now && was && now.role === was.role ? same + commonLength(now.text, was.text) : same;
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

const lineBegin = (text: string, offset: number): number =>
  offset === 0 ? 0 : Math.max(text.lastIndexOf('\n', offset - 1) + 1, offset - MAX_SAME);

/** A difference at a line break shows what follows it. */
function lineFrom(text: string, begin: number, offset: number): string {
  const end = text.indexOf('\n', offset + 1);
  return text.slice(begin, Math.min(end === -1 ? text.length : end, offset + MAX_OTHER)).toWellFormed();
}
