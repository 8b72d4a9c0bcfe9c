import type { Segment } from './lines.ts';

//  Reading order: a region is split at gutters into columns, or else at its widest empty band into an upper and a
//  lower part (recursive XY-cut). If lines of columns are level and short, they are table rows.

export type Region = { kind: 'text'; lines: Segment[][] } | { kind: 'table'; rows: Segment[][] };

/** Regions in the order of reading. A line of text is a list of segments, nearly always one. */
export function layOut(segments: readonly Segment[], depth = 0): Region[] {
  if (segments.length === 0) return [];
  const gutters = depth < 24 ? guttersOf(segments) : [];
  if (gutters.length > 0) {
    const columns = splitAt(segments, gutters, (one) => (one.left + one.right) / 2);
    if (isTable(columns)) return [{ kind: 'table', rows: rowsOf(segments) }];
    return columns.flatMap((column) => layOut(column, depth + 1));
  }
  const band = depth < 24 ? widestBand(segments) : null;
  if (band !== null) {
    return splitAt(segments, [band], (one) => (one.top + one.bottom) / 2).flatMap((part) => layOut(part, depth + 1));
  }
  return [{ kind: 'text', lines: rowsOf(segments) }];
}

/** Vertical gaps wide enough to separate columns with at least two lines each. */
function guttersOf(segments: readonly Segment[]): number[] {
  const em = median(segments.map(({ size }) => size));
  const gaps = gapsOf(segments.map(({ left, right }) => [left, right]));
  const wide = gaps.filter(({ from, to }) => to - from >= em * 0.8).map(({ from, to }) => (from + to) / 2);
  const columns = splitAt(segments, wide, (one) => (one.left + one.right) / 2);
  const levels = columns.map((column) => new Set(column.map(({ baseline }) => Math.round(baseline / em))).size);
  return wide.filter((_, at) => (levels[at] ?? 0) >= 2 && (levels[at + 1] ?? 0) >= 2);
}

/** The middle of the widest empty band between lines, if splitting there could change the layout of either part. */
function widestBand(segments: readonly Segment[]): number | null {
  const em = median(segments.map(({ size }) => size));
  const gaps = gapsOf(segments.map(({ top, bottom }) => [top, bottom])).filter(({ from, to }) => to - from > em * 0.15);
  if (gaps.length === 0 || !anyLevel(segments)) return null;
  const widest = gaps.reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
  return (widest.from + widest.to) / 2;
}

const level = (a: Segment, b: Segment) => Math.abs(a.baseline - b.baseline) < Math.min(a.size, b.size) * 0.5;

/** Whether any two segments are level. */
function anyLevel(segments: readonly Segment[]): boolean {
  const sorted = [...segments].sort((a, b) => a.baseline - b.baseline);
  return sorted.some((one, at) => {
    const reach = one.baseline + one.size * 0.5;
    for (let next = at + 1; next < sorted.length; next++) {
      const other = sorted[next] as Segment;
      if (other.baseline >= reach) return false;
      if (level(one, other)) return true;
    }
    return false;
  });
}

function gapsOf(spans: [number, number][]): { from: number; to: number }[] {
  const sorted = [...spans].sort((a, b) => a[0] - b[0]);
  const gaps: { from: number; to: number }[] = [];
  let end = sorted[0]?.[1] ?? 0;
  for (const [from, to] of sorted) {
    if (from > end) gaps.push({ from: end, to: from });
    end = Math.max(end, to);
  }
  return gaps;
}

function splitAt(segments: readonly Segment[], cuts: readonly number[], place: (one: Segment) => number): Segment[][] {
  const parts: Segment[][] = Array.from({ length: cuts.length + 1 }, () => []);
  for (const segment of segments) parts[countBelow(cuts, place(segment))]?.push(segment);
  return parts.filter((part) => part.length > 0);
}

/** How many of the sorted values are less. */
function countBelow(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether most cells have a level one in another column, and are not lines of running text. */
function isTable(columns: readonly Segment[][]): boolean {
  const all = columns
    .flatMap((column, number) => column.map((one) => ({ one, number })))
    .sort((a, b) => a.one.baseline - b.one.baseline);
  const paired = new Set<Segment>();
  for (const [at, { one, number }] of all.entries()) {
    for (let next = at + 1; next < all.length; next++) {
      const other = all[next] as (typeof all)[number];
      if (other.one.baseline - one.baseline >= one.size * 0.5) break;
      if (other.number === number || !level(one, other.one)) continue;
      paired.add(one).add(other.one);
    }
  }
  if (all.length - paired.size > all.length * 0.35) return false;
  const running = columns.filter(
    (column) => column.length >= 3 && median(column.map(({ words }) => words.length)) >= 4,
  );
  return running.length < 2;
}

/** Groups level segments into rows, top to bottom; each row left to right. */
export function rowsOf(segments: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = [];
  for (const segment of [...segments].sort((a, b) => a.baseline - b.baseline || a.left - b.left)) {
    const open = rows.at(-1);
    if (open?.[0] && level(open[0], segment)) open.push(segment);
    else rows.push([segment]);
  }
  return rows.map((row) => row.sort((a, b) => a.left - b.left));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
