import type { ClaimCheck, Grounding, Quote, Source } from '../../protocol/index.ts';
import { type Range, statementsOf } from '../chunk/sentence-splitter.ts';
import { headOf } from '../search/answer-candidates.ts';
import { contentWords } from '../search/stemming.ts';
import { quoteFrom } from './best-quote.ts';
import { type Citation, citationsIn, withoutCitations } from './citations.ts';
import { confirms, type Quantity, quantitiesIn } from './quantities.ts';

//  Checks how well an answer is supported by its sources, sentence by sentence. Numbers must occur there with the same unit, and quoted
//  words verbatim; other words are compared by stem, with one statement of a source or two consecutive ones.

/** Share of a claim's words that must occur in a statement. */
const SUPPORTED = 0.65;
const WEAK = 0.4;

/** Which sources were cited, and what supports each sentence. */
export function checkCitations(answer: string, grounding: Grounding): Grounding {
  const citations = citationsIn(answer);
  const known = new Set(grounding.sources.map(({ number }) => number));
  const cited = new Set(citations.flatMap(({ numbers }) => numbers).filter((number) => known.has(number)));
  const sources = grounding.sources.map((source) => ({ ...source, cited: cited.has(source.number) }));
  const prepared = sources.map(prepareSource);
  const support = claimsIn(answer).map(([start, end]): ClaimCheck => {
    const own = citations
      .filter((citation) => belongs(answer, citation, [start, end]))
      .flatMap(({ numbers }) => numbers)
      .filter((number) => known.has(number));
    return { start, end, ...bestOf(withoutCitations(answer).slice(start, end), prepared, own) };
  });
  return { ...grounding, sources, support, quote: grounding.quote ?? firstSupported(support, sources) };
}

/** Without a quote (for tasks): the evidence of the first supported sentence. */
function firstSupported(support: readonly ClaimCheck[], sources: readonly Source[]): Quote | null {
  const best = support.find(({ level }) => level === 'supported');
  const source = sources.find(({ number }) => number === best?.source);
  return best?.evidence && source ? quoteFrom(source, best.evidence) : null;
}

/** Sentences that make a claim: not code, not introductory lines. */
function claimsIn(answer: string): Range[] {
  const plain = withoutCitations(answer).replace(/```[\s\S]*?(?:```|$)/g, (code) => ' '.repeat(code.length));
  return statementsOf(plain)
    .map(([start, end]): Range => {
      const lead = plain.slice(start, end).match(/^(?:[-*•>#]+|\d+[.)])\s+/)?.[0].length ?? 0;
      return [start + lead, end];
    })
    .filter(
      ([start, end]) => contentWords(plain.slice(start, end)).length > 0 && !plain.slice(start, end).endsWith(':'),
    );
}

/** Whether a citation is within the sentence or directly after it. */
const belongs = (answer: string, { start }: Citation, claim: Range): boolean =>
  start >= claim[0] && (start < claim[1] || /^[\s.,;)\]\d[]*$/.test(answer.slice(claim[1], start)));

type PreparedSource = { source: Source; context: Set<string>; windows: Window[] };
type Said = { words: Set<string>; quantities: Quantity[] };
/** `parts`: its one or two statements. */
type Window = Said & { range: Range; parts: Said[]; negated: boolean };

function prepareSource(source: Source): PreparedSource {
  const statements = statementsOf(source.text);
  const windows = statements.flatMap((one, at) => {
    const next = statements[at + 1];
    return next ? [windowOf(source.text, [one]), windowOf(source.text, [one, next])] : [windowOf(source.text, [one])];
  });
  return { source, context: new Set(contentWords(`${source.name}\n${headOf(source.text)}`)), windows };
}

const saidIn = (text: string): Said => ({ words: new Set(contentWords(text)), quantities: quantitiesIn(text) });

function windowOf(text: string, statements: readonly Range[]): Window {
  const range: Range = [statements[0]?.[0] ?? 0, statements.at(-1)?.[1] ?? 0];
  const piece = text.slice(...range);
  const parts = statements.map((one) => saidIn(text.slice(...one)));
  return { ...saidIn(piece), range, parts, negated: NEGATION.test(piece) };
}

const NEGATION = /\b(?:not|no|never|none|neither|nor|without|cannot|\w+n't|forbidden|prohibited|excluded)\b/i;

type Verdict = Pick<ClaimCheck, 'level' | 'source' | 'evidence'>;
const RANK = { none: 0, weak: 1, supported: 2 } as const;

function bestOf(claim: string, prepared: readonly PreparedSource[], cited: readonly number[]): Verdict {
  let best: { verdict: Verdict; order: number } = {
    verdict: { level: 'none', source: null, evidence: null },
    order: 0,
  };
  for (const one of prepared) {
    const mine = cited.includes(one.source.number);
    for (const window of one.windows) {
      const { level, share } = compare(claim, one, window);
      if (level === 'none') continue;
      // Support by another source does not make a citation correct.
      const counted = cited.length > 0 && !mine && level === 'supported' ? 'weak' : level;
      const length = window.range[1] - window.range[0];
      const order = RANK[counted] * 10 + share + (mine ? 0.3 : 0) - length / 100_000;
      if (order <= best.order) continue;
      best = { verdict: { level: counted, source: one.source.number, evidence: [...window.range] }, order };
    }
  }
  return best.verdict;
}

function compare(
  claim: string,
  { source, context }: PreparedSource,
  window: Window,
): { level: ClaimCheck['level']; share: number } {
  const quantities = quantitiesIn(claim).filter(({ firm }) => firm);
  // Numbers are checked separately, with their units.
  const words = [...new Set(contentWords(without(claim, quantities)))];
  const inWindow = words.filter((word) => window.words.has(word));
  // Document name and headings say what a statement is about; they are not evidence by themselves.
  const known = words.filter((word) => window.words.has(word) || context.has(word));
  const evident = inWindow.length > 0 || quantities.some((quantity) => confirms(window.quantities, quantity));
  const share = evident && words.length > 0 ? known.length / words.length : 0;
  if (share < WEAK) return { level: 'none', share };
  // A number belongs to its subject: of two statements, the one with the number must be about the claim.
  const about = ({ words: there }: Said) => words.filter((word) => there.has(word)).length / words.length;
  const stands = (quantity: Quantity) =>
    window.parts.some(
      (part) => confirms(part.quantities, quantity) && (window.parts.length === 1 || about(part) >= WEAK),
    );
  if (!quantities.every(stands)) return { level: 'none', share };
  if (!quotedIn(claim).every((quoted) => plain(source.text).includes(plain(quoted)))) return { level: 'none', share };
  const sound = namesIn(claim).every((name) => plain(`${source.name} ${source.text}`).includes(plain(name)));
  const sameSense = NEGATION.test(claim) === window.negated;
  return { level: share >= SUPPORTED && sound && sameSense ? 'supported' : 'weak', share };
}

const without = (text: string, ranges: readonly Quantity[]): string =>
  ranges.reduceRight((left, { start, end }) => `${left.slice(0, start)} ${left.slice(end)}`, text);

const plain = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ');

const quotedIn = (claim: string): string[] =>
  [...claim.matchAll(/["“„«]([^"”“»]{2,200})["”“»]/g)].map((match) => match[1] ?? '');

/** Capitals within a sentence. */
const namesIn = (claim: string): string[] => claim.match(/(?<=[\p{L}\p{N},;:)] )\p{Lu}[\p{L}\p{M}\p{N}-]+/gu) ?? [];
