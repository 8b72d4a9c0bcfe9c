import { type Range, statementsOf } from '../chunk/sentence-splitter.ts';
import { CELL_SEPARATOR } from '../element.ts';

//  Selects the statements of a passage that can be answers. Headings, FAQ questions, and lines of a table of contents or an
//  index only name what is said elsewhere.

/** Candidate statements: those after the overlap with the previous passage, if there are any. */
export function answersIn(text: string, overlap = 0): Range[] {
  const all = statementsOf(text);
  const own = all.filter(([, end]) => end > overlap);
  const saying = (own.length > 0 ? own : all).filter((range) => !namesOnly(text.slice(...range)));
  const telling = saying.filter((range) => isTelling(text, range));
  // A passage of only short lines (a form, a list of names) may still contain answers.
  return telling.length > 0 ? telling : saying.filter((range) => !isHeading(text, range));
}

/** A question, or a reference to another place. */
const namesOnly = (said: string): boolean => /[?？؟]$/.test(said) || isReference(said);

const FEWEST_WORDS = 3;
/** Characters of scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

function isTelling(text: string, range: Range): boolean {
  const said = text.slice(...range);
  if (isHeading(text, range)) return false;
  const unspaced = said.match(UNSPACED)?.length ?? 0;
  const words = said.replace(UNSPACED, ' ').match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  return words + unspaced / 2 >= FEWEST_WORDS;
}

const LEADER = /(?:[.·…_] ?){4,}\s*(?:$|(?:\d{1,4}|[ivxlc]{1,6})\b)/i;
/** The same with the page number in a separate cell. */
const LED_CELL = /(?:[.·…_] ?){4,}\s*\|\s*(?:\d{1,4}|[ivxlc]{1,6})$/i;
/** "matrix, 12, 40, 41" */
const INDEX = /^[^.!?]{2,80}?(?:,\s*\d+(?:[-–]\d+)?){2,}\.?$/;

/** A line of a table of contents or of an index. */
const isReference = (said: string): boolean =>
  (said.includes(CELL_SEPARATOR) ? LED_CELL.test(said) : LEADER.test(said)) || INDEX.test(said);

/** Whether most of a passage is a table of contents or an index. */
export function isContents(text: string): boolean {
  if (!/(?:[.·…_] ?){4,}|,\s*\d+,\s*\d+/.test(text)) return false;
  const lines = text.split(/\n|(?<=(?:[.·…_] ?){4,}\s*\d{1,4})\s+(?=\S)/).filter((line) => /\p{L}/u.test(line));
  return lines.length >= 3 && lines.filter((line) => isReference(line.trim())).length > lines.length / 2;
}

/** A short line that stands alone and does not end like a sentence. */
const isHeading = (text: string, [start, end]: Range): boolean =>
  end - start <= LONGEST_HEADING &&
  !/[.!:;|。！：；]["')\]”»]?$/.test(text.slice(start, end)) &&
  (start === 0 || /\n\s*\n$/.test(text.slice(0, start))) &&
  /^\s*\n\s*\n/.test(text.slice(end));

const LONGEST_HEADING = 120;

/** The heading that a passage begins with. */
export const headOf = (text: string): string => text.match(/^([^\n]{1,120}[^\n.!:;|。！：；])\n\n/)?.[1] ?? '';

/** The last heading before a position in a passage. */
export function sectionOf(text: string, start: number): string {
  const before = text.slice(0, start);
  for (let end = before.lastIndexOf('\n\n'); end > 0; end = before.lastIndexOf('\n\n', end - 1)) {
    const from = before.lastIndexOf('\n\n', end - 1);
    const begin = from < 0 ? 0 : from + 2;
    const line = before.slice(begin, end);
    if (line.length > 0 && !line.includes('\n') && isHeading(text, [begin, end])) return line;
    if (from < 0) break;
  }
  return '';
}

/** The header row of a table row: the first row of its block. */
export function columnsOf(text: string, start: number): string {
  const block = text.slice(text.lastIndexOf('\n\n', start) + 1, start).trim();
  const [head = ''] = block.split('\n');
  return head.includes(CELL_SEPARATOR) ? head : '';
}

/** Maximum characters of what a statement introduces ("… as follows:"). */
const MAX_LED_TO = 600;

/** A statement extended by what its colon introduces: code, a list or a remedy. */
export function withWhatFollows(text: string, [start, end]: Range): Range {
  if (!/[:：]\s*$/.test(text.slice(start, end))) return [start, end];
  const rest = text.slice(end);
  const from = rest.length - rest.trimStart().length;
  const stop = rest.indexOf('\n\n', from);
  const block = rest.slice(0, stop < 0 ? undefined : stop);
  if (block.trim() === '') return [start, end];
  if (block.length <= MAX_LED_TO) return [start, end + block.trimEnd().length];
  const last = statementsOf(block).findLast(([, to]) => to <= MAX_LED_TO);
  return last ? [start, end + last[1]] : [start, end];
}
