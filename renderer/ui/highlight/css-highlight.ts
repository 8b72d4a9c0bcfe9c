import { foldCase } from '../../lib/case-fold.ts';

//  Search matches, highlighted without changing the text (CSS highlights, as in the chat).

const MOST = 2000;

/** Text that is not part of the visible content: button names, text for screen readers only, rendered formulas. */
const APART = 'button, .sr-only, .katex, [data-apart]';
const BLOCK = 'p, li, td, th, h1, h2, h3, h4, h5, h6, pre, blockquote, figure, section, div, .textlayer > span';

type Piece = { node: Text; start: number };

/** The text of an element as one string, and the offset of each of its nodes. A word may span several nodes, such as the
 *  coloured parts of code, but never the end of a paragraph. */
function textBelow(root: Element): { text: string; pieces: Piece[] } {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
    node instanceof Element && node.matches(APART) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const pieces: Piece[] = [];
  let text = '';
  let block: Element | null = null;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Element && node.tagName === 'BR') text += '\n';
    if (!(node instanceof Text)) continue;
    const own = node.parentElement?.closest(BLOCK) ?? null;
    if (own !== block && text !== '') text += '\n';
    block = own;
    pieces.push({ node, start: text.length });
    text += node.data;
  }
  return { text, pieces };
}

/** Every occurrence of `wanted` in the text of these elements, ignoring case. */
export function rangesIn(roots: Iterable<Element>, wanted: string): Range[] {
  const ranges: Range[] = [];
  const folded = foldCase(wanted);
  if (folded === '') return ranges;
  for (const root of roots) {
    const { text, pieces } = textBelow(root);
    const whole = foldCase(text);
    let piece = 0;
    for (
      let at = whole.indexOf(folded);
      at !== -1 && ranges.length < MOST;
      at = whole.indexOf(folded, at + folded.length)
    ) {
      while (piece + 1 < pieces.length && (pieces[piece + 1] as Piece).start <= at) piece += 1;
      let last = piece;
      while (last + 1 < pieces.length && (pieces[last + 1] as Piece).start < at + folded.length) last += 1;
      const [from, to] = [pieces[piece] as Piece, pieces[last] as Piece];
      const range = document.createRange();
      range.setStart(from.node, Math.min(at - from.start, from.node.length));
      range.setEnd(to.node, Math.min(at + folded.length - to.start, to.node.length));
      ranges.push(range);
    }
  }
  return ranges;
}

/** `bring`: scrolls the current match into view, as after a step by the user. */
export function paint(ranges: readonly Range[], current: Range | null, bring = true): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.set('found', new Highlight(...ranges));
  CSS.highlights.set('found-current', new Highlight(...(current ? [current] : [])));
  if (bring) current?.startContainer.parentElement?.scrollIntoView({ block: 'center', inline: 'nearest' });
}

export function unpaint(): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete('found');
  CSS.highlights.delete('found-current');
}
