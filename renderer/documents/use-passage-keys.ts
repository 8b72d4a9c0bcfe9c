import { useEffect } from 'react';
import { useDocuments } from './store.ts';

const ELSEWHERE = 'input, textarea, [contenteditable=true], [role=dialog], [role=menu], [role=listbox]';

/** J and K walk through the passages of the open document; Esc closes it. */
export function usePassageKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest(ELSEWHERE)) return;
      const { step, close, shown } = useDocuments.getState();
      if (!shown || document.querySelector('[role=dialog], [role=menu]')) return;
      const key = event.key.toLowerCase();
      if (key !== 'j' && key !== 'k' && key !== 'escape') return;
      event.preventDefault();
      if (key === 'escape') close();
      else step(key === 'j' ? 1 : -1);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
