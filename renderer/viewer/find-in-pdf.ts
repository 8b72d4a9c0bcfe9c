import type { PDFDocumentProxy } from 'pdfjs-dist';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { paint, rangesIn, unpaint } from '../ui/highlight/css-highlight.ts';
import type { Find, FoundInText } from './types.ts';

type Match = { page: number; nth: number };

const MOST = 5000;

async function textOfPage(pdf: PDFDocumentProxy, page: number): Promise<string> {
  const { items } = await (await pdf.getPage(page)).getTextContent();
  return items.map((item) => ('str' in item ? item.str : '')).join('\n');
}

function matchesIn(text: string, wanted: string, page: number): Match[] {
  const plain = text.toLocaleLowerCase();
  const matches: Match[] = [];
  for (let at = plain.indexOf(wanted), nth = 0; at !== -1; at = plain.indexOf(wanted, at + wanted.length), nth += 1)
    matches.push({ page, nth });
  return matches;
}

/** Searches page by page, so that the first matches appear at once; highlights them in the rendered text layers. */
export function useFindInPdf(
  pdf: PDFDocumentProxy,
  find: Find | null,
  scroller: RefObject<HTMLElement | null>,
  showPage: (page: number) => void,
): { state: FoundInText | null; refresh: () => void } {
  const [matches, setMatches] = useState<Match[]>([]);
  const texts = useRef(new Map<number, string>());
  const wanted = find?.text.trim().toLocaleLowerCase() ?? '';

  useEffect(() => {
    setMatches([]);
    if (wanted === '') return;
    let gone = false;
    const look = async () => {
      const all: Match[] = [];
      for (let page = 1; page <= pdf.numPages && all.length < MOST; page += 1) {
        const text = texts.current.get(page) ?? (await textOfPage(pdf, page));
        texts.current.set(page, text);
        if (gone) return;
        const more = matchesIn(text, wanted, page);
        all.push(...more);
        if (more.length > 0 || page === pdf.numPages) setMatches([...all]);
      }
    };
    look().catch(() => {});
    return () => {
      gone = true;
    };
  }, [pdf, wanted]);

  const index = matches.length === 0 ? -1 : (((find?.at ?? 0) % matches.length) + matches.length) % matches.length;
  const current = matches[index] ?? null;
  const page = current?.page ?? null;
  const nth = current?.nth ?? 0;

  const refresh = useCallback(() => {
    const root = scroller.current;
    if (!root) return;
    if (wanted === '') {
      unpaint();
      return;
    }
    const ranges = rangesIn(root.querySelectorAll('.textlayer'), wanted);
    const sheet = page === null ? null : root.querySelector(`[data-page="${page}"]`);
    const inPage = ranges.filter((range) => sheet?.contains(range.startContainer));
    paint(ranges, inPage[Math.min(nth, inPage.length - 1)] ?? null);
  }, [scroller, wanted, page, nth]);

  useEffect(() => {
    if (page !== null && !scroller.current?.querySelector(`[data-page="${page}"] .textlayer span`)) showPage(page);
    refresh();
  }, [page, refresh, scroller, showPage]);
  useEffect(() => unpaint, []);

  const state = useMemo(
    () => (wanted === '' ? null : { at: index + 1, count: matches.length }),
    [wanted, index, matches.length],
  );
  return { state, refresh };
}
