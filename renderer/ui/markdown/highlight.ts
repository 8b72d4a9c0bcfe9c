import { useEffect, useState } from 'react';
import { createHighlightQueue, type HighlightAnswer, type Run } from './highlight-queue.ts';
import { languageOf } from './languages.ts';

const LONGEST = 100_000;
const KEPT = 200;

/** Includes loading the grammar of the language for the first block. */
const LIMIT_MS = 5000;

const known = new Map<string, Run[][] | null>();
const highlighted = createHighlightQueue(({ answer, broke }) => {
  const worker = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = (event: MessageEvent<HighlightAnswer>) => answer(event.data);
  worker.onerror = broke;
  return { send: (request) => worker.postMessage(request), end: () => worker.terminate() };
}, LIMIT_MS);

async function ask(key: string, text: string, language: string): Promise<Run[][] | null> {
  const lines = await highlighted(text, language);
  const oldest = known.keys().next().value;
  if (known.size >= KEPT && oldest !== undefined) known.delete(oldest);
  known.set(key, lines);
  return lines;
}

/** The highlighted lines of a closed block; null until they are ready, or for an unknown language. */
export function useHighlight(text: string, name: string, closed: boolean): Run[][] | null {
  const language = languageOf(name);
  const wanted = closed && language !== null && text.length <= LONGEST;
  const key = `${language}\n${text}`;
  const [answer, setAnswer] = useState<{ key: string; lines: Run[][] | null } | null>(null);
  useEffect(() => {
    if (!wanted || known.has(key)) return;
    let gone = false;
    ask(key, text, language).then((lines) => !gone && setAnswer({ key, lines }));
    return () => {
      gone = true;
    };
  }, [wanted, key, text, language]);
  if (!wanted) return null;
  return known.get(key) ?? (answer?.key === key ? answer.lines : null);
}
