/** Text beyond these limits is shown as source, since laying it out as Markdown would cost too much. */
export const LONGEST_LEAF = 12_000;
export const DEEPEST = 12;
export const MAX_BLOCKS = 6_000;
export const MAX_ITEMS = 2_000;
export const MAX_CELLS = 4_000;
export const LONGEST_FORMULA = 5_000;
const MAX_MARKS = 1_500;
const PIECE = 4_000;

export function tooHeavy(source: string): boolean {
  if (source.length > LONGEST_LEAF) return true;
  if (source.length < MAX_MARKS) return false;
  return (source.match(/[[\]*_<>!(~`]/g)?.length ?? 0) > MAX_MARKS;
}

/** Splits a line of a megabyte into parts that the browser can skip while they are out of sight; never between surrogates. */
export function pieces(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + PIECE);
    const code = text.charCodeAt(end - 1);
    if (code >= 0xd800 && code <= 0xdbff && end < text.length) end += 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
