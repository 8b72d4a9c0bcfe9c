import type { Message, MessageId } from '../../../../app/protocol/index.ts';
import { foldCase } from '../../../lib/case-fold.ts';
import { paint, rangesIn } from '../../../ui/highlight/css-highlight.ts';
import { visibleText } from './visible-text.ts';

export type Match = { messageId: MessageId; nth: number };

const MOST = 2000;

/** Every match in the visible texts of a branch, in reading order, ignoring case. */
export function findMatches(branch: readonly Message[], query: string): Match[] {
  const wanted = foldCase(query);
  if (wanted.trim() === '') return [];
  const matches: Match[] = [];
  for (const message of branch) {
    const text = foldCase(visibleText(message));
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

/** Highlights matches without changing the text. `bring`: scrolls the current match into view. */
export function markMatches(query: string, { messageId, nth }: Match, bring: boolean): void {
  const root = document.getElementById('transcript');
  if (!root) return;
  const ranges = rangesIn(root.querySelectorAll('[data-text]'), query);
  const inMessage = ranges.filter(
    (range) =>
      range.startContainer.parentElement?.closest<HTMLElement>('[data-message]')?.dataset.message === messageId,
  );
  paint(ranges, inMessage[Math.min(nth, inMessage.length - 1)] ?? null, bring);
}
