import { isProse, isUnbroken } from './text-kind.ts';

//  Cuts a stream of text into sentences and abstracts them: content words as a set, and what may count (numbers, names,
//  letters) as a list beside it, so that "Attempt 7" and "Attempt 8" are the same sentence with another counter.

export interface Sentence {
  /** Token range [start, end) in the stream. */
  readonly start: number;
  readonly end: number;
  /** Whether it is long enough to be compared. */
  readonly telling: boolean;
  readonly prose: boolean;
  /** A row of a table, grid or list: mostly values. */
  readonly row: boolean;
  /** Reconsiders: "Wait", "let me check", "attempt". */
  readonly cued: boolean;
  /** Number of words other than values. */
  readonly fixed: number;
  readonly content: ReadonlySet<string>;
  readonly slots: readonly string[];
  /** Names among the slots: new names indicate progress, new numbers hardly. */
  readonly names: readonly string[];
  /** Hashes of its text without list number and spaces, and of its shape with all values removed. */
  readonly exact: number;
  readonly shape: number;
}

export interface Cutter {
  text: string;
  start: number;
  line: string;
  fenced: boolean;
  /** Words seen as names in mid-sentence, which are also names at the start of a sentence. */
  readonly names: Set<string>;
}

export const noText = (): Cutter => ({
  text: '',
  start: -1,
  line: '',
  fenced: false,
  names: new Set(),
});

/** Function words; loops are judged by content words. */
const light = new Set(
  `a an the this that these those it its he she they them his her their we us our you your i me my and or but so if then than as at by for from in into
  of on onto to with without about over under again once more is are was were be been being am do does did done has have had having can could may might
  must shall should will would not no nor yes wait hmm well okay ok oh actually maybe perhaps however therefore thus hence yet still also just really
  indeed simply now here there when while whenever where which who whom whose what why how all any both each either neither some such only very too
  quite let lets need needs think see check verify look alternatively because though although since unless until means mean said say says
  one ones hold going go goes get gets got other another hand else something exactly`.split(/\s+/),
);
const numerals = new Map(
  [
    'zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty',
    'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth',
  ].flatMap((row) => row.split(' ').map((numeral, value): [string, string] => [numeral, String(value)])),
);
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
for (const [at, ten] of tens.entries()) {
  numerals.set(ten, String(10 * (at + 2)));
  numerals.set(ten.replace('y', 'ieth'), String(10 * (at + 2)));
}
for (const [at, name] of ['hundred', 'thousand', 'million'].entries()) {
  const value = String([100, 1000, 1_000_000][at]);
  numerals.set(name, value);
  numerals.set(`${name}th`, value);
}
const word = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}]+|\p{N}+/gu;
const cue =
  /\b(?:wait|hmm+|again|actually|alternatively|maybe|perhaps|but|let me|let's|try|attempt|check|verify|reconsider|hold on|once more|another|assume|suppose)\b/i;
const digits = /^\p{N}/u;
/** Indentation of code listings. */
const indented = /^\n*(\t| {4})/;
const LONGEST = 400;
const MAX_NAMES = 1 << 14;
/** Minimum content words of a comparable sentence. */
const LEAST = 3;
/** Numbering of list entries, ignored in comparisons. */
const enumerator = /^[\s>]*(?:[-*•+]\s+)?(?:[([]?\p{N}{1,5}[.)\]]+\s+)?(?:\*\*)?/u;
/** The number of a list entry belongs to the sentence after it, and so do blank lines. */
const label = /^\s*[-*[(]*\p{N}*[.)\]]*\s*$/u;

/** Adds the text of token `at`; returns the sentences that it ended (usually none). */
export function cut(cutter: Cutter, piece: string, at: number): Sentence[] {
  const ended: Sentence[] = [];
  if (cutter.start < 0) cutter.start = at;
  if (plain(cutter, piece)) {
    cutter.text += piece;
    if (cutter.line.length < 3) cutter.line += piece;
    return ended;
  }
  for (const letter of piece) {
    const before = cutter.text.charAt(cutter.text.length - 1);
    cutter.text += letter;
    if (letter === '\n') {
      if (cutter.line.startsWith('```')) cutter.fenced = !cutter.fenced;
      cutter.line = '';
    } else if (cutter.line.length < 3) cutter.line += letter;
    if (ends(before, letter) || cutter.text.length > LONGEST) finish(cutter, at, ended);
  }
  return ended;
}

/** Fast path: nothing in this piece can end a sentence. */
const plain = ({ text }: Cutter, piece: string) =>
  !/[\n.!?…。！？।]/.test(piece) && !/[.!?…]$/.test(text) && text.length + piece.length <= LONGEST;

const ends = (before: string, letter: string) =>
  letter === '\n' ||
  '。！？।'.includes(letter) ||
  ((letter === ' ' || letter === '\t') && '.!?…'.includes(before) && before !== '');

function finish(cutter: Cutter, at: number, ended: Sentence[]): void {
  const { text, start, fenced } = cutter;
  if (label.test(text)) return;
  const { content, slots, names, shape, fixed } = abstract(text, cutter.names);
  const prose = !fenced && !indented.test(text) && isProse(text);
  const exact = hashOf(text.replace(enumerator, '').replace(/\s+/g, ''));
  const row = isUnbroken(text) || fixed < 2 || slots.length > 2 * fixed || /^\s*\|/.test(text);
  ended.push({
    start,
    end: at + 1,
    telling: content.size >= LEAST,
    prose,
    row,
    cued: cue.test(text),
    fixed,
    content,
    slots,
    names,
    exact,
    shape,
  });
  cutter.text = '';
  cutter.start = at + 1;
}

/** Words that count as values: each row of a truth table is new. */
const values = new Set(['true', 'false', 'yes', 'no']);

interface Abstract {
  readonly content: Set<string>;
  readonly slots: string[];
  readonly names: string[];
  /** Hash of words and punctuation without values. */
  readonly shape: number;
  /** Number of those words. */
  readonly fixed: number;
}

function abstract(text: string, known: Set<string>): Abstract {
  const content = new Set<string>();
  const slots: string[] = [];
  const names: string[] = [];
  let shape = 0;
  let fixed = 0;
  let first = true;
  let valued = false;
  for (const [found] of text.replace(enumerator, '').matchAll(word)) {
    const lower = found.toLowerCase();
    const number = numerals.get(lower) ?? (digits.test(found) ? found : undefined);
    let value = true;
    if (number !== undefined) slots.push(number);
    else if (values.has(lower) || (found.length === 1 && found !== lower && !first)) slots.push(lower);
    else if (found !== lower && found.length > 1 && !light.has(lower) && (!first || known.has(lower))) {
      slots.push(lower);
      if (known.size < MAX_NAMES) known.add(lower);
      names.push(lower);
    } else {
      value = false;
      if (!light.has(lower)) content.add(lower);
      fixed += 1;
      shape = (Math.imul(shape, 31) + hashOf(lower)) | 0;
    }
    // A list of values of any length is one gap.
    if (value && !valued) shape = (Math.imul(shape, 31) + 7) | 0;
    valued = value;
    first = false;
  }
  return { content, slots, names, shape, fixed };
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
