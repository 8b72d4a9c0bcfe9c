import type { Finding } from '../../../../../app/text/loop/finding.ts';
import type { Place } from '../../../../../app/text/loop/levels.ts';
import { LoopGuard } from '../../../../../app/text/loop/loop-detector.ts';
import { type Piece, tokens, type Vocabulary } from '../tokens.ts';
import type { Case } from './cases.ts';

export type Degree = 'card' | 'quiet';
export type Alarm = Pick<Finding, 'repeats' | 'periodTokens' | 'text' | 'kind'> & { degree: Degree };

/** Anything that watches a stream. `allow`: it was told to let this go on. */
export interface Detector {
  push(id: number, text: string, place: Place): Alarm | null;
  allow(copies: number): void;
}

export function ours(): Detector {
  const guard = new LoopGuard({ sensitivity: 'balanced', inAnswers: true });
  return {
    push(id, text, place) {
      const found = guard.push(id, text, place) as (Finding & { degree?: Degree }) | null;
      return found && { ...found, degree: found.degree ?? 'card' };
    },
    allow: (copies) => guard.act(copies),
  };
}

export interface Verdict {
  readonly id: string;
  readonly group: string;
  readonly kind: string;
  readonly place: Place;
  readonly loop: boolean;
  readonly tokens: number;
  /** Of a loop: the strongest of what was said, when the first of it came (in copies), and by how many tokens that was too late. */
  readonly found: Degree | null;
  readonly copies: number | null;
  readonly late: number;
  readonly early: boolean;
  readonly alarms: readonly Alarm[];
}

type Placed = Piece & { readonly place: Place };

function placed({ parts, pieces }: Case, vocabulary: Vocabulary): readonly Placed[] {
  return (
    pieces ?? parts.flatMap(({ where, text }) => tokens(text, vocabulary).map((piece) => ({ ...piece, place: where })))
  );
}

/** A loop is found by the first thing said about it; a thing said before it began is passed over as a person would ("keep going"). */
export function examine(one: Case, make: () => Detector, vocabulary: Vocabulary): Verdict {
  const pieces = placed(one, vocabulary);
  const { begin, ends } = one.loop as NonNullable<Case['loop']>;
  const third = ends[Math.min(2, ends.length - 1)] as number;
  const detector = make();
  let characters = 0;
  let first: { token: number; characters: number } | null = null;
  let found: Degree | null = null;
  let beginToken = 0;
  let thirdToken = 0;
  let place: Place = 'answer';
  let early = false;
  const alarms: Alarm[] = [];
  for (const [token, piece] of pieces.entries()) {
    if (characters <= begin) beginToken = token;
    if (characters < third) thirdToken = token + 1;
    characters += piece.text.length;
    place = piece.place;
    const alarm = detector.push(piece.id, piece.text, piece.place);
    if (!alarm) continue;
    alarms.push(alarm);
    if (characters <= begin) early = true;
    else {
      first ??= { token, characters };
      found = alarm.degree === 'card' ? 'card' : (found ?? 'quiet');
      if (alarm.degree === 'card') break;
    }
    if (alarm.degree === 'card') detector.allow(alarm.repeats);
  }
  // What was recorded mostly went round in other words before it did so to the letter: there, early is in time.
  const before = early && (!first || /^(exact|runaways)/.test(one.group));
  if (before) found = alarms.some(({ degree }) => degree === 'card') ? 'card' : (found ?? 'quiet');
  const period = (thirdToken - beginToken) / Math.min(3, ends.length);
  const allowed = Math.max(thirdToken, beginToken + 64) + period;
  const { id, group, kind } = one;
  return {
    id,
    group,
    kind,
    place,
    loop: true,
    tokens: pieces.length,
    found,
    copies: first ? ends.filter((end) => end <= (first?.characters ?? 0)).length : null,
    late: first && !before ? Math.max(0, Math.ceil(first.token + 1 - allowed)) : 0,
    early: before,
    alarms,
  };
}

/** Everything said about a sound text, in each place where it can stand. */
export function alarmsIn(one: Case, make: () => Detector, vocabulary: Vocabulary): Verdict[] {
  const places = one.places.length > 0 ? one.places : [null];
  return places.map((as) => {
    const detector = make();
    const alarms: Alarm[] = [];
    const pieces = placed(one, vocabulary);
    for (const { id, text, place } of pieces) {
      const alarm = detector.push(id, text, as ?? place);
      if (!alarm) continue;
      alarms.push(alarm);
      if (alarm.degree === 'card') detector.allow(alarm.repeats);
    }
    const { id, group, kind } = one;
    const place = as ?? one.parts.at(-1)?.where ?? 'answer';
    return {
      id,
      group,
      kind,
      place,
      loop: false,
      tokens: pieces.length,
      found: null,
      copies: null,
      late: 0,
      early: false,
      alarms,
    };
  });
}
