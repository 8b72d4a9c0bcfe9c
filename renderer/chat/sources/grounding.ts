import type { Grounding, Message, Source } from '../../../app/protocol/index.ts';
import { type Mark, markOfSource } from '../../stores/documents/state.ts';

//  The tested core of answers from documents: the sources of an answer, and the remarks on its sentences.

export type Attached = { end: number; number: number };

/** Chips for an answer that names no source: after each sentence that a source supports. */
export function attachedChips({ text, grounding }: Message): Attached[] {
  if (!grounding?.found || grounding.sources.some(({ number, cited }) => cited || text.includes(`[${number}]`)))
    return [];
  return grounding.support.flatMap(({ level, source, end }) =>
    level === 'supported' && source !== null ? [{ end, number: source }] : [],
  );
}

/** Sources that the answer names, or that support its sentences. While it is being written, those it has named so far, or all
 *  if there are none. */
export function citedSources(message: Message): Source[] {
  const sources = message.grounding?.sources ?? [];
  const cited = sources.filter((source) => source.cited || message.text.includes(`[${source.number}]`));
  if (cited.length > 0) return cited;
  const attached = new Set(attachedChips(message).map(({ number }) => number));
  return attached.size > 0 ? sources.filter(({ number }) => attached.has(number)) : [...sources];
}

export const sourceOf = (message: Message | null | undefined, number: number): Source | null =>
  message?.grounding?.sources.find((source) => source.number === number) ?? null;

/** The part of a source that supports the answer is marked fully, the rest of the passage softly. `quoted`: only the quoted words. */
export function markFor(grounding: Grounding, source: Source, quoted = false): Mark {
  const { quote } = grounding;
  if ((quoted || !grounding.found) && quote?.source === source.number)
    return markOfSource(source, [[quote.start, quote.end]]);
  const evidence = grounding.support.flatMap((support) =>
    support.source === source.number && support.evidence ? [support.evidence] : [],
  );
  return markOfSource(source, evidence);
}

export type Remark = { end: number; index: number };

/** Sentences that their sources do not, or only partly, support. Supported ones need no remark. */
export const remarksOf = (grounding: Grounding | null): Remark[] =>
  (grounding?.support ?? []).flatMap(({ level, end }, index) => (level === 'supported' ? [] : [{ end, index }]));

export const countOf = (grounding: Grounding, level: 'weak' | 'none'): number =>
  grounding.support.filter((support) => support.level === level).length;

/** An excerpt around the closest sentence, short enough for a card. Null if no sentence is known. */
export type Around = { before: string; sentence: string; after: string };

const AROUND = 140;

export function aroundClosest({ quote, found }: Grounding, source: Source): Around | null {
  if (found || quote?.source !== source.number) return null;
  const { text } = source;
  const from = Math.max(0, quote.start - AROUND);
  const to = Math.min(text.length, quote.end + AROUND);
  const before = text.slice(from, quote.start);
  const after = text.slice(quote.end, to);
  return {
    before: from === 0 ? before : `…${before.slice(Math.max(0, before.search(/\s/)))}`,
    sentence: text.slice(quote.start, quote.end),
    after: to === text.length ? after : `${after.slice(0, Math.max(0, after.search(/\s\S*$/)))}…`,
  };
}
