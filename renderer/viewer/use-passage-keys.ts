import { useEffect } from 'react';
import { useDocuments } from '../stores/documents/store.ts';

const ELSEWHERE = 'input, textarea, [contenteditable=true], [role=dialog], [role=menu], [role=listbox]';

/** Whether J and K are shortcuts here: single letters must not act while the focus is elsewhere, for users of speech input
 *  (WCAG 2.1.4). Text fields keep their letters. */
export const inPassages = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-passages]') !== null && target.closest(ELSEWHERE) === null;

/** J and K step through the passages of the open document while the focus is in the list or the document; Esc closes it. */
export function usePassageKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const { step, close, shown } = useDocuments.getState();
      if (!shown || document.querySelector('[role=dialog], [role=menu]')) return;
      const key = event.key.toLowerCase();
      if (key !== 'escape' && !((key === 'j' || key === 'k') && inPassages(event.target))) return;
      if (event.target instanceof Element && event.target.closest(ELSEWHERE)) return;
      event.preventDefault();
      if (key === 'escape') close();
      else step(key === 'j' ? 1 : -1);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
