import { foldCase } from './fold.ts';

//  Words that are looked for, painted over the text without touching it (CSS highlights, as in the chat).

const MOST = 2000;

/** Every place of `wanted` (lower case) in the text below these elements. */
export function rangesIn(roots: Iterable<Element>, wanted: string): Range[] {
  const ranges: Range[] = [];
  for (const root of roots) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
      const text = foldCase(node.nodeValue ?? '');
      for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, Math.min(at + wanted.length, node.nodeValue?.length ?? 0));
        ranges.push(range);
      }
    }
  }
  return ranges;
}

export function paint(ranges: readonly Range[], current: Range | null): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.set('found', new Highlight(...ranges));
  CSS.highlights.set('found-current', new Highlight(...(current ? [current] : [])));
  current?.startContainer.parentElement?.scrollIntoView({ block: 'center', inline: 'nearest' });
}

export function unpaint(): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete('found');
  CSS.highlights.delete('found-current');
}
