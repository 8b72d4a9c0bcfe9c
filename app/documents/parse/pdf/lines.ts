import { isRtl, isWide, type PageWord } from './words.ts';

//  Groups words into segments: runs of words on one line without a gap wide enough for a column or cell.

export type Segment = {
  words: PageWord[];
  left: number;
  top: number;
  right: number;
  bottom: number;
  baseline: number;
  size: number;
};

const MARKER = /^(?:[•·▪◦‣∙■□●○–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])$/;

export function segmentsOf(words: readonly PageWord[]): Segment[] {
  const segments: Segment[] = [];
  for (const word of words) {
    const open = segments.at(-1);
    if (open && follows(open, word)) append(open, word);
    else segments.push(segmentOf(word));
  }
  return joinNeighbours(segments).map(ordered);
}

/** The segment of words known to be on one line. */
export function segmentOfLine([first, ...rest]: readonly PageWord[]): Segment[] {
  if (!first) return [];
  const segment = segmentOf(first);
  for (const word of rest) append(segment, word);
  return [segment];
}

const segmentOf = (word: PageWord): Segment => ({
  words: [word],
  left: word.left,
  top: word.top,
  right: word.right,
  bottom: word.bottom,
  baseline: word.baseline,
  size: word.size,
});

/** Either way along the line, superscripts included. */
function follows(segment: Segment, word: PageWord): boolean {
  const em = Math.max(segment.size, word.size);
  const gap = Math.max(word.left - segment.right, segment.left - word.right);
  return onOneLine(segment, word) && gap < em && gap > -em * 0.5;
}

function onOneLine(a: Segment | PageWord, b: Segment | PageWord): boolean {
  if (Math.abs(a.baseline - b.baseline) <= Math.min(a.size, b.size) * 0.25) return true;
  const shared = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return shared > Math.min(a.bottom - a.top, b.bottom - b.top) * 0.6;
}

function append(segment: Segment, word: PageWord) {
  segment.words.push(word);
  grow(segment, word);
}

function grow(segment: Segment, more: Segment | PageWord) {
  // The baseline is that of the largest words.
  if (more.size > segment.size * 1.05) segment.baseline = more.baseline;
  segment.size = Math.max(segment.size, more.size);
  segment.left = Math.min(segment.left, more.left);
  segment.right = Math.max(segment.right, more.right);
  segment.top = Math.min(segment.top, more.top);
  segment.bottom = Math.max(segment.bottom, more.bottom);
}

/** Joins parts of a line that were drawn separately, and list markers with their items. */
function joinNeighbours(segments: readonly Segment[]): Segment[] {
  const sorted = [...segments].sort((a, b) => a.baseline - b.baseline || a.left - b.left);
  const joined: Segment[] = [];
  for (const segment of sorted) {
    const recent = joined.slice(-12).reverse();
    const host = recent.find((one) => onOneLine(one, segment) && near(one, segment));
    if (!host) {
      joined.push({ ...segment, words: [...segment.words] });
      continue;
    }
    const first = segment.words[0];
    if (first) first.spaced = true;
    host.words.push(...segment.words);
    grow(host, segment);
  }
  return joined;
}

function near(a: Segment, b: Segment): boolean {
  const [left, right] = a.left <= b.left ? [a, b] : [b, a];
  const em = Math.min(a.size, b.size);
  const marker = left.words.length === 1 && MARKER.test(left.words[0]?.text ?? '');
  return right.left - left.right < em * (marker ? 4 : 0.6);
}

/** Words of a segment in reading order: left to right, or right to left if most are. */
function ordered(segment: Segment): Segment {
  const rtl = segment.words.filter(({ text }) => isRtl(text)).length;
  const words = [...segment.words].sort((a, b) => a.left - b.left);
  for (const [at, word] of words.entries()) {
    const before = words[at - 1];
    if (
      before &&
      word.left - before.right - before.tracking > word.size * 0.14 &&
      !(isWide(word.text) && isWide(before.text))
    ) {
      word.spaced = true;
    }
  }
  if (rtl * 2 <= words.length) return { ...segment, words };
  // Left-to-right runs keep their order.
  const runs: PageWord[][] = [];
  for (const word of words) {
    const open = runs.at(-1);
    const ltr = !isRtl(word.text) && /[\p{L}]/u.test(word.text);
    if (ltr && open && !isRtl(open[0]?.text ?? '') && /[\p{L}]/u.test(open[0]?.text ?? '')) open.push(word);
    else runs.push([word]);
  }
  const read = runs.reverse().flat();
  for (const word of read) word.spaced = true;
  return { ...segment, words: read };
}
