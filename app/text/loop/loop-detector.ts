import type { LoopEvidence } from '../../protocol/index.ts';
import { type Level, levels, type Place, type Sensitivity } from './levels.ts';
import { type Chains, link, noChains } from './near-duplicates.ts';
import { collapsed, fading, type Novelty, nothingWritten, observe } from './novelty.ts';
import { advance, noPeriods, type Periods } from './period.ts';
import { type Cutter, cut, noText } from './sentences.ts';
import { isProse, sortOf } from './text-kind.ts';

//  watching ──two copies, or little new──▶ suspected ──enough copies──▶ confirmed ──act()──▶ acted ──next token──▶ watching
//     ▲                                        │
//     └──────────────something new─────────────┘
export type GuardState = 'watching' | 'suspected' | 'confirmed' | 'acted';

/** A card asks what to do; a quiet line only says that much is alike, since it may be wanted. */
export type Degree = 'card' | 'quiet';

/** What the guard knows; `text`, `first` and `last` as in the protocol's LoopEvidence. */
export type Finding = Omit<LoopEvidence, 'savedTokens'> & { readonly degree: Degree };

export interface GuardOptions {
  readonly sensitivity: Sensitivity;
  readonly inAnswers: boolean;
  /** What the user wrote: an answer that repeats it was perhaps asked to. */
  readonly asked?: readonly number[];
}

/** Texts of the last tokens, for the evidence. */
const KEPT = 2048;
const GROUP = 4;
/** Different tokens from which on a copy of data says something, and the tokens that its copies fill at least. */
const SAYING = 4;
const SAID = 192;
/** A repetition of the user's own words must be this much longer. */
const ASKED = 8;

export class LoopGuard {
  state: GuardState = 'watching';
  private readonly options: GuardOptions;
  private readonly askedGroups: ReadonlySet<string>;
  private readonly pieces: string[] = new Array(KEPT).fill('');
  private readonly ids = new Int32Array(KEPT);
  private written = 0;
  private times = 0;
  /** Copies that must be passed before asking again ("keep going"), and for how many quiet tokens it has not been near. */
  private patience = 0;
  private quiet = 0;
  private place: Place | undefined;
  /** Where the watched stretch (thinking, or the answer) began. */
  private since = 0;
  private periods: Periods = noPeriods();
  private chains: Chains = noChains();
  private cutter: Cutter = noText();
  private novelty: Novelty = nothingWritten();

  constructor(options: GuardOptions) {
    this.options = options;
    this.askedGroups = new Set(options.asked?.map((_, at, ids) => ids.slice(at, at + GROUP).join(' ')));
  }

  /** Takes the next token, with the characters it added. Returns what was found when this token confirms a loop. */
  push(id: number, text: string, place: Place): Finding | null {
    if (place !== this.place) this.start(place);
    const at = this.written++;
    this.pieces[at % KEPT] = text;
    this.ids[at % KEPT] = id;
    const level = this.level(place);
    if (!level || this.state === 'confirmed') return null;
    this.state = 'watching';
    const found = this.exact(id, level) ?? this.similar(text, at, level) ?? this.shuffled(id, level);
    this.cool();
    return found && this.confirm(found, place);
  }

  /** The loop was answered: it is watched on, and asked about again only after twice as many copies. */
  act(copies: number): void {
    this.state = 'acted';
    this.patience = 2 * copies;
    this.quiet = 0;
  }

  /** Tokens from `length` on never happened (rewind). */
  rewind(length: number): void {
    this.written = Math.min(length, this.written);
    if (this.place) this.start(this.place);
  }

  private level(place: Place): Level | null {
    const { sensitivity, inAnswers } = this.options;
    if (sensitivity === 'off' || (place === 'answer' && !inAnswers)) return null;
    return levels[sensitivity][place];
  }

  private start(place: Place): void {
    this.place = place;
    this.state = 'watching';
    this.patience = 0;
    this.since = this.written;
    this.periods = noPeriods();
    this.chains = noChains();
    this.cutter = noText();
    this.novelty = nothingWritten();
  }

  private exact(id: number, level: Level): Candidate | null {
    const period = advance(this.periods, id, Math.min(level.tokens, 32));
    if (period === 0) return null;
    const span = (this.periods.run[period] as number) + period;
    const copies = span / period;
    this.state = 'suspected';
    if (copies < level.copies || span < level.tokens || copies < this.patience) return null;
    const first = this.written - span;
    const needed = this.needed(level, period, span);
    if (copies < needed.copies || span < needed.tokens) return null;
    return { kind: 'exact', copies: Math.round(copies), period, first };
  }

  /** Words need few copies, data many; words the user wrote himself need more too. */
  private needed(level: Level, period: number, span: number): { copies: number; tokens: number } {
    const once = this.text(this.written - period, this.written);
    const run = this.text(this.written - Math.min(span, KEPT, Math.max(period, 160)), this.written);
    const { fenced, line } = this.cutter;
    if (fenced || line.trimStart().startsWith('|') || sortOf(once, run) === 'data') return this.ofData(level, period);
    const factor = this.place === 'answer' && this.wasAsked(period) ? ASKED : 1;
    return { copies: level.copies * factor, tokens: level.tokens * factor };
  }

  /** A ruled line or a row of zeros comes back often, an empty table row some times, a copy of many different tokens hardly:
   *  in the sound texts of the tuning half nine different tokens stand twelve times at most, and more than nine not even
   *  three times. */
  private ofData(level: Level, period: number): { copies: number; tokens: number } {
    const different = new Set(Array.from({ length: period }, (_, back) => this.ids[(this.written - 1 - back) % KEPT]));
    if (different.size < SAYING) return { copies: level.dataCopies, tokens: level.dataTokens };
    const copies = Math.max(level.dataLeast, level.dataSaid / different.size ** 1.5);
    return { copies: Math.min(level.dataCopies, copies), tokens: SAID };
  }

  private wasAsked(period: number): boolean {
    if (this.askedGroups.size === 0 || period < 2 * GROUP - 2) return false;
    let known = 0;
    for (let at = this.written - period; at < this.written; at++) {
      const group = Array.from({ length: GROUP }, (_, step) => this.ids[(at + step - GROUP + 1 + KEPT) % KEPT]);
      if (this.askedGroups.has(group.join(' '))) known += 1;
    }
    // Groups over the border of two copies were never asked for.
    return known >= 0.7 * (period - GROUP + 1);
  }

  private similar(text: string, at: number, level: Level): Candidate | null {
    let found: Candidate | null = null;
    for (const sentence of cut(this.cutter, text, at)) {
      const round = link(this.chains, sentence, level);
      if (!round) continue;
      this.state = 'suspected';
      const { copies, depth, period, first } = round;
      if (depth >= level.alike && copies >= this.patience && copies * period >= level.alikeTokens) {
        found = { kind: 'similar', copies, period, first };
      }
    }
    return found;
  }

  private shuffled(id: number, level: Level): Candidate | null {
    observe(this.novelty, id);
    if (!fading(this.novelty)) return null;
    this.state = 'suspected';
    if (!level.collapse || !collapsed(this.novelty) || this.novelty.copies < this.patience) return null;
    const first = Math.max(this.since, this.written - KEPT / 2);
    if (this.cutter.fenced || !isProse(this.text(first, this.written))) return null;
    const copies = Math.floor(this.novelty.copies);
    return { kind: 'collapse', copies, period: Math.max(1, Math.floor((this.written - first) / copies)), first };
  }

  private confirm(found: Candidate, place: Place): Finding {
    this.state = 'confirmed';
    this.times += 1;
    const { kind, copies, period, first } = found;
    const from = this.written - first <= KEPT ? first : this.written - period;
    return {
      degree: 'card',
      where: place,
      kind,
      text: this.text(from, from + period),
      copies,
      period,
      first,
      last: this.written - 1,
      spentTokens: this.written - first - period,
      times: this.times,
    };
  }

  /** A loop that was let go on and then ended is forgotten. */
  private cool(): void {
    if (this.patience === 0) return;
    this.quiet = this.state === 'watching' ? this.quiet + 1 : 0;
    if (this.quiet > KEPT / 8) this.patience = 0;
  }

  private text(from: number, to: number): string {
    let text = '';
    for (let at = Math.max(from, this.written - KEPT, 0); at < to; at++) text += this.pieces[at % KEPT];
    return text;
  }
}

type Candidate = Pick<Finding, 'kind' | 'copies' | 'period' | 'first'>;
