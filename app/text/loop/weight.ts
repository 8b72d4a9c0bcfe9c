import type { Level } from './levels.ts';
import type { Periods } from './period.ts';
import {
  gridOf,
  isEncoded,
  isForm,
  isMarkup,
  isOverlong,
  isPattern,
  isTrace,
  isUnbroken,
  sortOf,
} from './text-kind.ts';

//  How often what repeats to the letter must have come, and how long that must be, to be a loop: words few times, data many.

/** Different tokens from which on a copy of data says something, and the tokens that its copies fill at least. */
const SAYING = 4;
const SAID = 64;
const MANY = 64;
/** Tokens of blank grids, and of moves and states: a card for those comes after so many copies, or after so many tokens of longer ones. */
const BLANK = 640;
const TRACE = { copies: 12, tokens: 400, longer: 960 };

export interface Weight {
  readonly copies: number;
  readonly tokens: number;
  /** Where a card takes much longer, what a quiet line takes. */
  readonly quiet: { readonly copies: number; readonly tokens: number } | null;
}

export interface Copy {
  readonly period: number;
  /** One copy, and what can be seen of all of them. */
  readonly once: string;
  readonly run: string;
  /** It stands in a fence or in a row of a table. */
  readonly code: boolean;
  readonly ids: Periods;
  /** How many times as long words must be. */
  readonly factor: () => number;
}

const only = (copies: number, tokens: number): Weight => ({ copies, tokens, quiet: null });

export function weigh(level: Level, copy: Copy): Weight {
  const usual = usually(level, copy);
  if (usual.tokens >= TRACE.tokens || !isTrace(copy.run)) return usual;
  const copies = Math.min(TRACE.copies, TRACE.longer / copy.period);
  return { copies: Math.max(usual.copies, copies), tokens: TRACE.tokens, quiet: usual };
}

function usually(level: Level, copy: Copy): Weight {
  const { period, once, run, code } = copy;
  const grid = gridOf(once, run);
  if (grid === 'blank') return only(26, BLANK);
  if (grid === 'pattern') return only(12, BLANK);
  if (grid === 'rows') return only(Math.max(period > SAYING ? 8 : MANY, 1.5 * period), BLANK / 2);
  if (/^[ \t]+$/.test(run)) return only(MANY, BLANK);
  if (isOverlong(run)) return only(8, level.tokens);
  if (isUnbroken(run) && (run.includes('\n') || isEncoded(run)))
    return only(run.includes('\n') ? 12 : level.dataCopies, level.dataTokens);
  if (code || sortOf(once, run) === 'data') return ofData(level, copy);
  const factor = copy.factor();
  return only(level.copies * factor, level.tokens * factor);
}

/** A ruled line or a row of zeros comes back often, an empty table row some times, a copy of many different tokens hardly. */
function ofData(level: Level, { period, once, ids: { ids, length } }: Copy): Weight {
  const different = new Set<number>();
  for (let back = 1; back <= period && different.size < MANY; back++) different.add(ids[length - back] ?? -1);
  if (different.size < SAYING && /^(?:[^\p{L}]+|[A-Za-z0-9+/=]+)$/u.test(once))
    return only(level.dataCopies, level.dataTokens);
  const copies =
    (isForm(once) ? 8 : isMarkup(once) ? 3 : 1) *
    Math.max(
      isPattern(once) ? 2 * level.dataLeast : level.dataLeast,
      level.dataSaid / (different.size * Math.min(period, 4 * different.size)) ** 0.75,
    );
  return only(Math.min(level.dataCopies, copies), SAID);
}
