//  Two things in an answer's text that are not Markdown: the number of a source, [3], and the place after a sentence for a
//  remark on it, or for the number of a source that the answer itself does not name. They become elements; the text between
//  them stays in one piece.

/** Around the index of a remark, and around the number of a source. Private-use characters, removed from the input. */
const OPEN = '\uE002';
const SOURCE = '\uE004';
const CLOSE = '\uE003';
const INSIDE = /\[(\d{1,3})\]|\uE002(\d+)\uE003|\uE004(\d+)\uE003/g;
const PRIVATE = /[\uE002-\uE004]/g;

type Node = { type: string; value?: string; children?: Node[]; data?: Record<string, unknown> };

const element = (name: string, number: string): Node => ({
  type: 'reference',
  data: { hName: name, hProperties: { dataNumber: number } },
  children: [],
});

function split(text: string): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const match of text.matchAll(INSIDE)) {
    if (match.index > at) nodes.push({ type: 'text', value: text.slice(at, match.index) });
    const [, written, remark, attached] = match;
    nodes.push(remark ? element('data', remark) : element('cite', (written ?? attached) as string));
    at = match.index + match[0].length;
  }
  if (at < text.length) nodes.push({ type: 'text', value: text.slice(at) });
  return nodes;
}

function walk(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text' && child.value !== undefined) return split(child.value);
    walk(child);
    return [child];
  });
}

/** For the Markdown library: numbers in brackets and remarks become the elements `cite` and `data`. */
export const references = () => walk as (tree: unknown) => void;

export const withoutRemarks = (text: string): string => text.replace(/[\uE002\uE004]\d*\uE003?/g, '');

type Remark = { end: number; index: number };
type Chip = { end: number; number: number };

/** Inserts remark `index`, or the chip of source `number`, after the sentence that ends at `end`. Not inside code, which is
 *  left unchanged. */
export function withRemarks(text: string, remarks: readonly Remark[], chips: readonly Chip[] = []): string {
  const clean = text.replace(PRIVATE, '\uFFFD');
  const marks = [
    ...remarks.map(({ end, index }) => ({ end, mark: `${OPEN}${index}${CLOSE}` })),
    ...chips.map(({ end, number }) => ({ end, mark: ` ${SOURCE}${number}${CLOSE}` })),
  ];
  let out = '';
  let at = 0;
  for (const { end, mark } of marks.sort((a, b) => a.end - b.end)) {
    const place = afterSentence(clean, end);
    if (place < at || insideFence(clean, place)) continue;
    out += clean.slice(at, place) + mark;
    at = place;
  }
  return out + clean.slice(at);
}

/** After the last letter, so that a remark never begins a line. */
function afterSentence(text: string, end: number): number {
  let place = Math.min(end, text.length);
  while (place > 0 && /\s/.test(text[place - 1] as string)) place -= 1;
  return place;
}

const insideFence = (text: string, place: number): boolean =>
  (text.slice(0, place).match(/^ {0,3}(```|~~~)/gm)?.length ?? 0) % 2 === 1;
