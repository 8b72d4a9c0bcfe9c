import type { Finding, GuardOptions } from '../../../../app/text/loop/finding.ts';
import type { Place } from '../../../../app/text/loop/levels.ts';
import { LoopGuard } from '../../../../app/text/loop/loop-detector.ts';
import type { Loop } from './corpus/index.ts';
import { type Piece, tokens, type Vocabulary } from './tokens.ts';

export type Named = Exclude<GuardOptions['sensitivity'], 'off'>;

export interface Caught {
  readonly name: string;
  readonly kind: string;
  /** Tokens of one copy. */
  readonly period: number;
  /** Tokens after the loop began; null when it was never confirmed. */
  readonly after: number | null;
  /** max(3 copies, 48 tokens) and one period. */
  readonly allowed: number;
  readonly early: boolean;
}

function first(pieces: readonly Piece[], place: Place, sensitivity: Named): Finding | null {
  const guard = new LoopGuard({ sensitivity, inAnswers: true });
  for (const { id, text } of pieces) {
    const found = guard.push(id, text, place);
    if (found) return found;
  }
  return null;
}

/** Tokens that hold the first `characters` characters. */
function tokensOf(pieces: readonly Piece[], characters: number): number {
  let length = 0;
  let count = 0;
  while (count < pieces.length && length < characters) length += pieces[count++]?.text.length ?? 0;
  return count;
}

export function caught(loop: Loop, vocabulary: Vocabulary, sensitivity: Named): Caught {
  const pieces = tokens(loop.lead + loop.loop, vocabulary);
  const begin = tokensOf(pieces, loop.lead.length);
  const period = Math.max(1, tokensOf(pieces.slice(begin), loop.cycle));
  const found = first(pieces, loop.where, sensitivity);
  const after = found && found.endToken + 1 - begin;
  return {
    name: loop.name,
    kind: loop.kind,
    period,
    after,
    allowed: Math.max(3 * period, 48) + period,
    early: after !== null && after <= 0,
  };
}

/** A recorded loop often went round in other words before its last, exact round: there, early is in time. */
export const inTime = ({ after, allowed, early, kind }: Caught): boolean =>
  after !== null && after <= allowed && (!early || kind === 'recorded');

/** Processor time of watching sound text, in µs a token: the least of five rounds over 100,000 tokens. */
export function cost(texts: readonly string[]): number {
  const pieces = texts.flatMap((text) => tokens(text, 'words')).slice(0, 100_000);
  falseAlarms(pieces, 'thinking', 'balanced');
  const rounds = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    falseAlarms(pieces, 'thinking', 'balanced');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / pieces.length;
  });
  return Math.min(...rounds);
}

/** Every false alarm of a text, watched on after each as if the user had said "keep going". */
export function falseAlarms(pieces: readonly Piece[], place: Place, sensitivity: Named): Finding[] {
  const guard = new LoopGuard({ sensitivity, inAnswers: true });
  const alarms: Finding[] = [];
  for (const { id, text } of pieces) {
    const found = guard.push(id, text, place);
    if (found) {
      alarms.push(found);
      guard.act(found.repeats);
    }
  }
  return alarms;
}
