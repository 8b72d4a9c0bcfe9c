import { isProse } from './text-kind.ts';

//  Cuts a stream of text into sentences and abstracts them: content words as a set, and what may count (numbers, names,
//  letters) as a list beside it, so that "Attempt 7" and "Attempt 8" are the same sentence with another counter.

export interface Sentence {
  /** In tokens of the stream, [start, end). */
  readonly start: number;
  readonly end: number;
  /** Long enough to be compared. */
  readonly telling: boolean;
  readonly prose: boolean;
  readonly content: ReadonlySet<string>;
  readonly slots: readonly string[];
}

export interface Cutter {
  text: string;
  start: number;
  line: string;
  fenced: boolean;
}

export const noText = (): Cutter => ({ text: '', start: -1, line: '', fenced: false });

/** Words that carry a sentence rather than its matter; a loop is judged by what it talks about. */
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
    'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth',
  ].flatMap((row) => row.split(' ').map((numeral, value): [string, string] => [numeral, String(value)])),
);
const word = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}]+|\p{N}+/gu;
const digits = /^\p{N}/u;
/** Listings are set off so; prose is not. */
const indented = /^\n*(\t| {4})/;
const LONGEST = 400;
/** Content words without which a sentence says too little to be compared. */
const LEAST = 3;
/** The number of a list entry belongs to the sentence after it. */
const label = /^\s*[-*[(]*\p{N}*[.)\]]*\s*$/u;

/** Takes the text of token `at`; returns the sentences that it ended (mostly none). */
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

/** Nothing in this piece can end a sentence: by far the most of them. */
const plain = ({ text }: Cutter, piece: string) =>
  !/[\n.!?…。！？।]/.test(piece) && !/[.!?…]$/.test(text) && text.length + piece.length <= LONGEST;

const ends = (before: string, letter: string) =>
  letter === '\n' ||
  '。！？।'.includes(letter) ||
  ((letter === ' ' || letter === '\t') && '.!?…'.includes(before) && before !== '');

function finish(cutter: Cutter, at: number, ended: Sentence[]): void {
  const { text, start, fenced } = cutter;
  if (label.test(text)) return;
  const { content, slots } = abstract(text);
  if (text.trim() === '') return;
  const prose = !fenced && !indented.test(text) && isProse(text);
  ended.push({ start, end: at + 1, telling: content.size >= LEAST, prose, content, slots });
  cutter.text = '';
  cutter.start = at + 1;
}

function abstract(text: string): { content: Set<string>; slots: string[] } {
  const content = new Set<string>();
  const slots: string[] = [];
  let first = true;
  for (const [found] of text.matchAll(word)) {
    const lower = found.toLowerCase();
    const number = numerals.get(lower) ?? (digits.test(found) ? found : undefined);
    if (number !== undefined) slots.push(number);
    else if (!light.has(lower)) {
      if (!first && found !== lower && found.length > 1) slots.push(lower);
      else content.add(lower);
    }
    first = false;
  }
  return { content, slots };
}
