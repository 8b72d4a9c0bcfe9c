import type { Finding } from '../../../../../app/text/loop/finding.ts';
import { LoopGuard } from '../../../../../app/text/loop/loop-detector.ts';
import { tokens } from '../tokens.ts';
import recorded from './recorded.json' with { type: 'json' };

//  Lists that SmolLM2-135M wrote at temperature 0 without a guard, up to 640 tokens. Those of `tuning` were read before any number
//  was set; those of `held-out` only report.

export type ListHalf = 'tuning' | 'held-out';

export interface List {
  readonly prompt: string;
  readonly text: string;
  /** Character at which the longest row of entries begins that the list has already; null: there are fewer than six in a row. */
  readonly loop: number | null;
}

const entry = /^[\s>#]*(?:[-*•+]|\(?\d{1,5}[.):])\s+/;
const LEAST = 6;

/** By a rule that knows nothing of the detector: six entries in a row that stood in the text before. */
function loopIn(text: string): number | null {
  const seen = new Set<string>();
  let longest = { entries: 0, begin: 0 };
  let row = { entries: 0, begin: 0 };
  let character = 0;
  for (const line of text.split('\n')) {
    const said = line
      .replace(entry, '')
      .toLowerCase()
      .replace(/[*\s]+/g, ' ')
      .trim();
    if (entry.test(line) && seen.has(said)) {
      row = row.entries === 0 ? { entries: 1, begin: character } : { ...row, entries: row.entries + 1 };
      if (row.entries > longest.entries) longest = row;
    } else if (said !== '' && !seen.has(said)) row = { entries: 0, begin: 0 };
    if (said !== '') seen.add(said);
    character += line.length + 1;
  }
  return longest.entries >= LEAST ? longest.begin : null;
}

export const listsOf = (half: ListHalf): List[] =>
  recorded.filter((row) => row.half === half).map(({ prompt, text }) => ({ prompt, text, loop: loopIn(text) }));

export interface Noticed {
  /** Tokens from the begin of the row to the first thing said, and to the card; null: never. What was said before it is 0. */
  readonly said: number | null;
  readonly card: number | null;
  readonly first: Finding | null;
}

export function noticed({ prompt, text, loop }: List): Noticed {
  const guard = new LoopGuard({ sensitivity: 'balanced', inAnswers: true, question: prompt });
  let characters = 0;
  let begin = 0;
  let said: number | null = null;
  let first: Finding | null = null;
  for (const [at, piece] of tokens(text, 'words').entries()) {
    if (characters <= (loop ?? 0)) begin = at;
    characters += piece.text.length;
    const found = guard.push(piece.id, piece.text, 'answer');
    if (!found) continue;
    first ??= found;
    // Counted from where the row begins, which may be further on.
    const after = characters <= (loop ?? 0) ? 0 : at + 1 - begin;
    said ??= after;
    if (found.degree === 'card') return { said, card: after, first };
  }
  return { said, card: null, first };
}
