import { useEffect, useState } from 'react';
import { languageOf } from './languages.ts';

export type Mark = 'keyword' | 'string' | 'number' | 'name' | 'comment';
/** A stretch of one colour. */
export type Run = readonly [text: string, mark: Mark | null];
export type HighlightRequest = { id: number; text: string; language: string };
export type HighlightAnswer = { id: number; lines: Run[][] | null };

const LONGEST = 100_000;
const KEPT = 200;

let worker: Worker | null = null;
let lastId = 0;
const waiting = new Map<number, (lines: Run[][] | null) => void>();
const known = new Map<string, Run[][] | null>();

function start(): Worker {
  const created = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
  created.onmessage = (event: MessageEvent<HighlightAnswer>) => {
    waiting.get(event.data.id)?.(event.data.lines);
    waiting.delete(event.data.id);
  };
  return created;
}

function ask(key: string, text: string, language: string): Promise<Run[][] | null> {
  worker ??= start();
  const id = ++lastId;
  const request: HighlightRequest = { id, text, language };
  worker.postMessage(request);
  return new Promise((resolve) => {
    waiting.set(id, (lines) => {
      const oldest = known.keys().next().value;
      if (known.size >= KEPT && oldest !== undefined) known.delete(oldest);
      known.set(key, lines);
      resolve(lines);
    });
  });
}

/** The coloured lines of a closed block, or null until they come (and for ever, when nobody knows the language). */
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
