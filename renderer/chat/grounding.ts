import type { Grounding, Message, Source } from '../../app/protocol/index.ts';
import { type Mark, markOfSource } from '../documents/state.ts';

//  The tested core of answers from documents: which sources an answer has, and what is said about its sentences.

/** While an answer is written its sources are known, but not yet which of them it cites: those it has named so far. */
export function citedSources(message: Message): Source[] {
  const sources = message.grounding?.sources ?? [];
  const cited = sources.filter((source) => source.cited || message.text.includes(`[${source.number}]`));
  return cited.length > 0 ? cited : [...sources];
}

export const sourceOf = (message: Message | null | undefined, number: number): Source | null =>
  message?.grounding?.sources.find((source) => source.number === number) ?? null;

/** What of a source the answer rests on is marked full, the rest of the passage softly. `quoted`: the quoted words alone. */
export function markFor(grounding: Grounding, source: Source, quoted = false): Mark {
  const { quote } = grounding;
  if (quoted && quote?.source === source.number) return markOfSource(source, [[quote.start, quote.end]]);
  const evidence = grounding.support.flatMap((support) =>
    support.source === source.number && support.evidence ? [support.evidence] : [],
  );
  return markOfSource(source, evidence);
}

export type Remark = { end: number; index: number };

/** Sentences that their sources do not, or not wholly, bear out. Those that are supported need no word. */
export const remarksOf = (grounding: Grounding | null): Remark[] =>
  (grounding?.support ?? []).flatMap(({ level, end }, index) => (level === 'supported' ? [] : [{ end, index }]));

export const countOf = (grounding: Grounding, level: 'weak' | 'none'): number =>
  grounding.support.filter((support) => support.level === level).length;
