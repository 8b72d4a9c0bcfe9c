import { useCallback, useEffect, useRef, useState } from 'react';

const REST_MS = 400;

/** A text that is shown as typed and passed on when typing pauses, or the field unmounts. */
export function useDebouncedText(value: string, keep: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState<string | null>(null);
  const waiting = useRef<string | null>(null);
  const save = useRef(keep);
  save.current = keep;
  const flush = useCallback(() => {
    if (waiting.current !== null) save.current(waiting.current);
    waiting.current = null;
  }, []);
  useEffect(() => {
    if (typed === null) return;
    const timer = setTimeout(flush, REST_MS);
    return () => clearTimeout(timer);
  }, [typed, flush]);
  useEffect(() => flush, [flush]);
  return [
    typed ?? value,
    (next) => {
      waiting.current = next;
      setTyped(next);
    },
  ];
}
