import type { Message, MessageId } from '../../app/protocol/index.ts';

export type Match = { messageId: MessageId; nth: number };

const MOST = 2000;

/** Every place in the texts of a branch, in reading order. Upper and lower case are the same. */
export function findMatches(branch: readonly Message[], query: string): Match[] {
  const wanted = query.toLocaleLowerCase();
  if (wanted.trim() === '') return [];
  const matches: Match[] = [];
  for (const message of branch) {
    const text = message.text.toLocaleLowerCase();
    for (
      let at = text.indexOf(wanted), nth = 0;
      at !== -1 && matches.length < MOST;
      at = text.indexOf(wanted, at + wanted.length), nth += 1
    ) {
      matches.push({ messageId: message.id, nth });
    }
  }
  return matches;
}

/** Paints over the text without touching it (CSS highlights), and brings the current place into view. */
export function markMatches(query: string, messageId: MessageId, nth: number): void {
  const root = document.getElementById('transcript');
  if (!root || !('highlights' in CSS)) return;
  const ranges = rangesIn(root, query.toLocaleLowerCase());
  const inMessage = ranges.filter(
    (range) =>
      range.startContainer.parentElement?.closest<HTMLElement>('[data-message]')?.dataset.message === messageId,
  );
  const current = inMessage[Math.min(nth, inMessage.length - 1)];
  CSS.highlights.set('found', new Highlight(...ranges));
  CSS.highlights.set('found-current', new Highlight(...(current ? [current] : [])));
  current?.startContainer.parentElement?.scrollIntoView({ block: 'center' });
}

export function unmark(): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete('found');
  CSS.highlights.delete('found-current');
}

function rangesIn(root: Element, wanted: string): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLocaleLowerCase();
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + wanted.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  return ranges;
}
