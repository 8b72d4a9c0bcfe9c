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

//  How many exact copies, and of what length, make a loop: few for prose, many for data.

/** Minimum distinct tokens of a data copy with content, and minimum tokens of all copies. */
const SAYING = 4;
const SAID = 64;
const MANY = 64;
/** Limits for blank grids, and for moves and states: a card after this many copies, or this many tokens of longer ones. */
const BLANK = 640;
const TRACE = { copies: 12, tokens: 400, longer: 960 };

export interface Weight {
  readonly copies: number;
  readonly tokens: number;
  /** Requirements of a quiet line, if a card takes much longer. */
  readonly quiet: { readonly copies: number; readonly tokens: number } | null;
}

export interface Copy {
  readonly period: number;
  /** One copy, and the visible part of all copies. */
  readonly once: string;
  readonly run: string;
  /** Inside a code fence or a table row. */
  readonly code: boolean;
  readonly ids: Periods;
  /** Factor on the requirements for prose. */
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

/** Requirements for data: rules and rows of zeros recur often, empty table rows sometimes, copies of many distinct tokens hardly ever. */
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
