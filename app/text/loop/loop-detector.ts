import { degreeOf, type Entries, enter, noEntries } from './entries.ts';
import { ALL, type Candidate, type Finding, type GuardOptions, isNumbered } from './finding.ts';
import { type KnownLines, noLines, notice } from './known-lines.ts';
import { type Level, levels, type Place } from './levels.ts';
import { type Chains, link, noChains, type Round } from './near-duplicates.ts';
import { collapsed, fading, type Novelty, nothingWritten, observe } from './novelty.ts';
import { advance, noPeriods, type Periods } from './period.ts';
import { requestedLength } from './requested-length.ts';
import { noReturns, type Returns, turnBack } from './returns.ts';
import { scoreOf } from './score.ts';
import { type Cutter, cut, noText } from './sentences.ts';
import { isProse } from './text-kind.ts';
import { type Weight, weigh } from './weight.ts';

//  watching ──two copies, or little new──▶ suspected ──enough copies──▶ confirmed ──act()──▶ acted ──next token──▶ watching
//     ▲                                        │
//     └──────────────something new─────────────┘
export type GuardState = 'watching' | 'suspected' | 'confirmed' | 'acted';

/** Window of the collapse signal in tokens. */
const COLLAPSED = 1024;
/** Tokens of few distinct symbols beyond any requested matrix, and minimum rows. */
const ENDLESS = 6000;
const ROWS = 20;
const GROUP = 4;
/** Additional copies required of other loops after each one the user kept going. */
const EAGER = 2;
/** An answer that only counts is usually a requested list: copies needed for a quiet line. */
const COUNTED = 12;
/** Share of values among the words of a copy above which equal copies may be coincidence (the next of many cases). */
const VALUED = 0.1;
/** Reduction of the required log-odds for thinking that only counts. */
const IDLE = 0.6;
/** Factor for repetition of the user's own words. */
const ASKED = 8;
/** Minimum paragraphs that revisit an earlier point. */
const RETURNS = 4;
/** Maximum and minimum tokens of a recurring loop that count as a relapse. */
const RELAPSE = 160;
const LEAST_RELAPSE = 24;

export class LoopGuard {
  state: GuardState = 'watching';
  private readonly options: GuardOptions;
  private readonly askedGroups: ReadonlySet<string>;
  private readonly pieces: string[] = [];
  private written = 0;
  private times = 0;
  /** Copies to exceed before asking again ("keep going"). */
  private copiesNeeded = 0;
  private allowed = 0;
  /** The current exact repetition was allowed to continue: no other signal reports it. */
  private goesOn = false;
  private readonly allowedIds = new Set<number>();
  /** The period of the last exact loop; 0: the last loop was of another kind. */
  private found = 0;
  private place: Place | undefined;
  /** Start of the watched section (thinking or answer). */
  private since = 0;
  private periods: Periods = noPeriods();
  private lines: KnownLines = noLines();
  /** Requirements for a loop of this period at this place; recomputed when its span has doubled. */
  private measured: Weight & { period: number; first: number; span: number } = {
    period: 0,
    first: -1,
    span: 0,
    copies: 0,
    tokens: 0,
    quiet: null,
  };
  /** N-grams of the loop that must not recur, and how many consecutive ones are a relapse. */
  private relapse: Set<string> | null = null;
  private relapsed = 0;
  private known = 0;
  private last = { period: 0 };
  private quietCopiesNeeded = 0;
  private entries: Entries = noEntries();
  private returns: Returns = noReturns();
  private chains: Chains = noChains();
  private cutter: Cutter = noText();
  private novelty: Novelty = nothingWritten();

  constructor(options: GuardOptions) {
    this.options = options;
    this.askedGroups = new Set(options.asked?.map((_, at, ids) => ids.slice(at, at + GROUP).join(' ')));
  }

  /** Adds the next token with its characters. Returns a finding if this token confirms a loop. */
  push(id: number, text: string, place: Place): Finding | null {
    if (place !== this.place) this.enter(place);
    const at = this.written++;
    this.pieces.push(text);
    const level = this.level(place);
    if (!level || this.state === 'confirmed') return null;
    this.state = 'watching';
    const exact = this.exact(id, level);
    const worn = this.wornOut(text, at, level);
    const similar = this.similar(text, at, level);
    const other =
      (worn?.degree === 'card' ? worn : (similar ?? worn)) ??
      this.shuffled(id, level) ??
      this.returning(text, at, level);
    const found = exact ?? (this.goesOn ? null : other);
    return found && this.confirm(found, place);
  }

  /** The user chose to keep going: asks again only after twice as many copies. */
  act(copies: number): void {
    this.state = 'acted';
    this.copiesNeeded = 2 * copies;
    this.allowed = this.written;
    if (this.found) this.allowedIds.add(this.sumOf(this.found));
  }

  /** The same, but the loop must not recur: a single copy in the answer is reported as a relapse. */
  remember(length: number): void {
    const { period } = this.last;
    this.relapse = new Set();
    for (let back = 0; back < Math.min(period, RELAPSE); back++) this.relapse.add(this.groupAt(back));
    this.relapsed = Math.min(RELAPSE, Math.max(LEAST_RELAPSE, Math.ceil(1.25 * period)));
    this.rewind(length);
  }

  /** Discards tokens from `length` on (rewind). */
  rewind(length: number): void {
    this.written = Math.min(length, this.written);
    this.pieces.length = this.written;
    this.since = Math.min(this.since, this.written);
    this.start();
  }

  private level(place: Place): Level | null {
    const { sensitivity, inAnswers } = this.options;
    if (sensitivity === 'off' || (place === 'answer' && !inAnswers && !this.relapse)) return null;
    return levels[sensitivity][place];
  }

  /** Starts a new section: thinking stays known, but only repetition within the answer counts. */
  private enter(place: Place): void {
    this.place = place;
    this.since = this.written;
    this.state = 'watching';
  }

  private start(): void {
    this.state = 'watching';
    this.copiesNeeded = 0;
    this.quietCopiesNeeded = 0;
    this.periods = noPeriods();
    this.chains = noChains();
    this.lines = noLines();
    this.entries = noEntries();
    this.returns = noReturns();
    this.cutter = noText();
    this.novelty = nothingWritten();
  }

  private exact(id: number, level: Level): Candidate | null {
    this.goesOn = false;
    const track = advance(this.periods, id);
    if (this.relapse) {
      this.known = this.relapse.has(this.groupAt(0)) ? this.known + 1 : Math.max(0, this.known - 1);
      if (this.known >= this.relapsed) return this.fellBack();
    }
    if (!track) return null;
    const { period } = track;
    const span = track.run + period;
    if (span < Math.min(level.tokens, 32)) return null;
    const copies = span / period;
    this.state = 'suspected';
    const first = this.written - span;
    this.goesOn = first < this.allowed;
    if (copies < level.copies || span < level.tokens || copies < this.copiesNeededOf(period, first)) return null;
    if (this.written - this.since < Math.min(2 * period, span)) return null;
    const needed = this.needed(level, period, first, span);
    const found = { kind: 'exact', repeats: Math.floor(copies), periodTokens: period, startToken: first } as const;
    if (copies >= needed.copies && span >= needed.tokens) return { ...found, degree: 'card' };
    const { quiet } = needed;
    if (!quiet || copies < Math.max(quiet.copies, this.quietCopiesNeeded) || span < quiet.tokens) return null;
    return { ...found, degree: 'quiet' };
  }

  /** The allowed loop may continue up to twice its copies; other loops need somewhat more copies than before. */
  private copiesNeededAt(first: number): number {
    if (this.copiesNeeded === 0) return 0;
    return first < this.allowed ? this.copiesNeeded : EAGER * (this.times + 1);
  }

  /** ... and the allowed loop may recur elsewhere. */
  private copiesNeededOf(period: number, first: number): number {
    if (this.copiesNeeded === 0) return 0;
    return first < this.allowed || this.allowedIds.has(this.sumOf(period)) ? this.copiesNeeded : 0;
  }

  /** A checksum that is the same for every rotation of a copy. */
  private sumOf(period: number): number {
    let sum = 0;
    for (let back = 0; back < period; back++) sum = (sum + Math.imul(this.idAt(back) + 1, 0x9e3779b1)) | 0;
    return sum;
  }

  private groupAt(back: number): string {
    return Array.from({ length: GROUP }, (_, step) => this.idAt(back + GROUP - 1 - step)).join(' ');
  }

  private idAt(back: number): number {
    return this.periods.ids[this.periods.length - 1 - back] ?? -1;
  }

  private fellBack(): Candidate {
    const span = this.known + GROUP - 1;
    const period = Math.min(span, this.last.period);
    this.relapse = null;
    return {
      kind: 'exact',
      degree: 'card',
      repeats: Math.max(1, Math.floor(span / period)),
      periodTokens: period,
      startToken: this.written - span,
    };
  }

  private needed(level: Level, period: number, first: number, span: number): Weight {
    const { measured } = this;
    if (measured.period === period && measured.first === first && span < 1.25 * measured.span) return measured;
    this.measured = {
      period,
      first,
      span,
      ...this.weighed(level, period, span),
    };
    return this.measured;
  }

  /** Requires more of repetitions of the user's own words. */
  private weighed(level: Level, period: number, span: number): Weight {
    const once = this.text(this.written - Math.min(period, 512), this.written);
    const run = this.text(this.written - Math.min(span, Math.max(period, 160), 512), this.written);
    const { fenced, line } = this.cutter;
    const code = fenced || line.trimStart().startsWith('|');
    const factor = () => (this.place === 'answer' && this.wasAsked(period) ? ASKED : 1);
    return weigh(level, { period, once, run, code, ids: this.periods, factor });
  }

  private wasAsked(period: number): boolean {
    if (this.askedGroups.size === 0 || period < 2 * GROUP - 2) return false;
    let known = 0;
    for (let back = 0; back < period; back++) {
      if (this.askedGroups.has(this.groupAt(back))) known += 1;
    }
    // N-grams across the border of two copies do not occur in the question.
    return known >= 0.7 * (period - GROUP + 1);
  }

  private similar(text: string, at: number, level: Level): Candidate | null {
    let found: Candidate | null = null;
    for (const sentence of cut(this.cutter, text, at)) {
      notice(this.lines, sentence);
      const round = link(this.chains, sentence);
      if (round) found = this.alike(round, level) ?? found;
    }
    return found ?? this.circling(level);
  }

  private alike(round: Round, level: Level): Candidate | null {
    const { copies, period, first, latest, identical, features } = round;
    this.state = 'suspected';
    if (latest < this.since) return null;
    const odds = scoreOf(features);
    const copiesNeeded = this.copiesNeededAt(first);
    if (copies < copiesNeeded || copies * period < level.alikeTokens) return null;
    const found = { kind: 'similar', repeats: copies, periodTokens: period, startToken: first, quote: latest } as const;
    const numbered = isNumbered(features);
    // The next of many values gave the same result as the previous one, which may be coincidence.
    const byChance = features.same >= ALL && features.density > VALUED;
    const lines = byChance ? identical : copies;
    if ((!byChance && odds >= level.card) || (numbered && lines >= 2 * level.copies))
      return { ...found, degree: 'card' };
    const inAnswer = this.place === 'answer';
    const counted = features.counter >= ALL;
    const wanted = inAnswer && counted ? Math.max(COUNTED, requestedLength(this.options.question ?? '') ?? 0) : 0;
    const quiet = level.quiet - (counted && !inAnswer ? IDLE : 0);
    if ((inAnswer && numbered) || odds < quiet || copies < Math.max(wanted, this.quietCopiesNeeded)) return null;
    return { ...found, degree: 'quiet' };
  }

  /** An exhausted list that keeps counting. */
  private wornOut(text: string, at: number, level: Level): Candidate | null {
    const worn = enter(this.entries, text, at);
    if (!worn || worn.first < this.since) return null;
    this.state = 'suspected';
    const { entries: copies, period, first, latest: quote } = worn;
    const degree = degreeOf(worn, level.listed, this.options.question ?? '');
    if (!degree || copies < this.copiesNeededAt(first) || (degree === 'quiet' && copies < this.quietCopiesNeeded))
      return null;
    return { kind: 'entries', degree, repeats: copies, periodTokens: period, startToken: first, quote };
  }

  private circling(level: Level): Candidate | null {
    const { share, tokens, copies, since } = this.lines;
    const copiesNeeded = Math.max(4, this.quietCopiesNeeded, this.copiesNeededAt(since));
    if (share < 0.9 || tokens < level.quietTokens || copies < copiesNeeded) return null;
    const period = Math.max(1, Math.floor((this.written - since) / copies));
    return {
      kind: 'collapse',
      degree: 'quiet',
      repeats: Math.floor(copies),
      periodTokens: period,
      startToken: since,
    };
  }

  /** Reported once, and again when it has doubled. */
  private returning(text: string, at: number, level: Level): Candidate | null {
    if (level.returns === 0 || !turnBack(this.returns, text, at)) return null;
    const { evidence, count, first, period } = this.returns;
    if (evidence < level.returns || count < Math.max(RETURNS, this.quietCopiesNeeded)) return null;
    return {
      kind: 'returns',
      degree: 'quiet',
      repeats: count,
      periodTokens: period,
      startToken: first,
      quote: at + 1 - period,
    };
  }

  private shuffled(id: number, level: Level): Candidate | null {
    observe(this.novelty, id);
    if (this.novelty.poor > 0 && this.novelty.poor % ENDLESS === 0) return this.endless(this.novelty.poor);
    if (!fading(this.novelty)) return null;
    this.state = 'suspected';
    if (
      !level.collapse ||
      !collapsed(this.novelty) ||
      this.novelty.copies < this.copiesNeededAt(this.written - COLLAPSED)
    )
      return null;
    const first = Math.max(this.since, this.written - COLLAPSED);
    if (this.cutter.fenced || this.lines.listed > 0.3 || !isProse(this.text(first, this.written))) return null;
    const copies = Math.floor(this.novelty.copies);
    const period = Math.max(1, Math.floor((this.written - first) / copies));
    return { kind: 'collapse', degree: 'card', repeats: copies, periodTokens: period, startToken: first };
  }

  /** Endless rows of few distinct symbols: reported once, and again when doubled. */
  private endless(tokens: number): Candidate | null {
    const first = this.written - tokens;
    const rows = this.text(first, this.written).split('\n').length - 1;
    if (rows < Math.max(ROWS, this.quietCopiesNeeded)) return null;
    return {
      kind: 'collapse',
      degree: 'quiet',
      repeats: rows,
      periodTokens: Math.floor(tokens / rows),
      startToken: first,
    };
  }

  private confirm(found: Candidate, place: Place): Finding {
    const { kind, degree, repeats: copies, periodTokens: period, startToken: first, quote = first } = found;
    if (degree === 'card') this.last = { period };
    if (degree === 'card') {
      this.state = 'confirmed';
      this.times += 1;
      this.found = kind === 'exact' ? period : 0;
    } else this.quietCopiesNeeded = 2 * copies;
    return {
      degree,
      where: place,
      kind,
      text: this.text(quote, kind === 'entries' ? this.written : quote + period),
      repeats: copies,
      periodTokens: period,
      startToken: first,
      endToken: this.written - 1,
      spentTokens: this.written - first - (kind === 'entries' ? 0 : period),
      times: Math.max(1, this.times),
    };
  }

  private text(from: number, to: number): string {
    return this.pieces.slice(Math.max(0, from), to).join('');
  }
}
