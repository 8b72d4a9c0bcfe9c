import type { Range } from '../chunk/sentence-splitter.ts';
import { countedThing, formOf, kindFits } from './answer-type.ts';
import type { Candidate, Question } from './ranking-features.ts';
import { contentWords } from './stemming.ts';

//  Keyword features of a statement: which of the question's words it has, and how close together; which occur only
//  above or around it; whether it has the expected answer type; and its margin over the others.

/** `rank`: of its passage in the search, from 1. */
export type WordCandidate = { candidate: Candidate; range: Range; rank: number };

const AROUND = 120;

/** The query words in a text, and its number of words. */
type Said = { has: ReadonlySet<string>; size: number };

/** One feature vector per statement, in the given order. */
export function wordFeatures(question: Question, candidates: readonly WordCandidate[]): number[][] {
  const { language } = question;
  const asked = [...question.words.keys()];
  const known = new Map<string, Said>();
  function saidIn(text: string): Said {
    const before = known.get(text);
    if (before) return before;
    const words = new Set(contentWords(text, language));
    const has = new Set(asked.filter((word) => words.has(word) || (language?.compounds && isPart(word, words))));
    known.set(text, { has, size: words.size });
    return { has, size: words.size };
  }
  const heaviest = Math.max(1e-9, ...question.words.values());
  const names = namesIn(question.text, language?.capitals ?? true);
  const counted = language ? [] : contentWords(countedThing(question.text) ?? '');
  const form = formOf(question.text);
  const covered = (...said: readonly Said[]) => coverageOf(question.words, said);

  const rows = candidates.map(({ candidate, range, rank }) => {
    const statement = candidate.text.slice(...range);
    const around = candidate.text.slice(Math.max(0, range[0] - AROUND), range[1] + AROUND);
    const own = saidIn(statement);
    const above = saidIn(candidate.context);
    const near = saidIn(around);
    const missing = asked.filter((word) => !own.has.has(word) && !above.has.has(word));
    const kind = kindFits(question.text, statement, language);
    return [
      covered(own),
      covered(own, above),
      covered(near, above),
      covered(saidIn(candidate.text), above),
      covered(above),
      asked.length > 0 && missing.length === 0 ? 1 : 0,
      Math.max(0, ...missing.map((word) => question.words.get(word) ?? 0)) / heaviest,
      kind === 1 ? 1 : 0,
      kind === -1 ? 1 : 0,
      kind === -2 ? 1 : 0,
      shareMissing(names, `${candidate.context}\n${candidate.text}`),
      shareMissing(names, `${candidate.context}\n${statement}`),
      question.unknown,
      counted.length === 0 ? 0 : saidOf(counted, around) ? 1 : -1,
      Math.log1p(own.has.size),
      pairsKept(asked, contentWords(statement, language)),
      1 / rank,
      Math.log1p(own.size),
      Math.log1p(asked.length),
      ...form,
    ];
  });
  return withMargins(rows);
}

function saidOf(counted: readonly string[], text: string): boolean {
  const there = new Set(contentWords(text));
  return counted.some((word) => there.has(word));
}

const SHORTEST_PART = 4;

/** "Frist" in "Kündigungsfrist", and vice versa. */
function isPart(word: string, words: ReadonlySet<string>): boolean {
  if (word.length < SHORTEST_PART) return false;
  for (const one of words) {
    const [short, long] = one.length < word.length ? [one, word] : [word, one];
    if (short.length >= SHORTEST_PART && (long.startsWith(short) || long.endsWith(short))) return true;
  }
  return false;
}

const HERE = 1;
const NEAR = 2;

/** Adds the margin of each statement over the best of the others. */
function withMargins(rows: readonly number[][]): number[][] {
  const margins = [HERE, NEAR].map((feature) => {
    const sorted = rows.map((row) => row[feature] ?? 0).sort((a, b) => b - a);
    const [first = 0, second = 0] = sorted;
    return (row: readonly number[]) => {
      const own = row[feature] ?? 0;
      return own - (own === first ? second : first);
    };
  });
  return rows.map((row) => [...row, ...margins.map((margin) => margin(row))]);
}

function coverageOf(words: ReadonlyMap<string, number>, said: readonly Said[]): number {
  let all = 0;
  let found = 0;
  for (const [word, weight] of words) {
    all += weight;
    if (said.some(({ has }) => has.has(word))) found += weight;
  }
  return all === 0 ? 0 : found / all;
}

/** Maximum distance of two words of a pair. */
const APART = 4;

/** Share of the question's word pairs that also occur close together in a statement. */
function pairsKept(asked: readonly string[], said: readonly string[]): number {
  if (asked.length < 2) return 0;
  const places = (word: string) => said.flatMap((one, at) => (one === word ? [at] : []));
  const retained = asked.slice(1).filter((word, at) => {
    const before = places(asked[at] ?? '');
    return places(word).some((place) => before.some((other) => Math.abs(place - other) <= APART));
  });
  return retained.length / (asked.length - 1);
}

/** Names and numbers in a question: capitalised words after the first, in languages where those are names. */
function namesIn(question: string, capitals: boolean): string[] {
  const names = question.match(/(?<=\S\s)(?:\p{Lu}[\p{L}\p{N}]*|\p{N}[\p{N}.,:]*\p{N}|\p{N})/gu) ?? [];
  return names
    .filter((name) => name !== 'I' && (capitals || /\p{N}/u.test(name)))
    .map((name) => name.toLowerCase().replace(/s$/, ''));
}

function shareMissing(names: readonly string[], text: string): number {
  if (names.length === 0) return 0;
  const folded = text.toLowerCase();
  return names.filter((name) => !folded.includes(name)).length / names.length;
}
