import { CELL_SEPARATOR, type Element, type Reader } from '../../element.ts';
import { readText } from './decode.ts';
import { linesPiece, pieceOfLines } from './text.ts';

//  Markdown (CommonMark's blocks, GitHub's tables) line by line: every block records its lines. The markup of
//  emphasis, links and code is removed from the text.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/;
const QUOTE = /^ {0,3}>\s?/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Inline markup is only searched in shorter lines: finding all of it in a long line
 *  takes quadratic time. */
const MAX_MARKED = 2000;
const isMarked = (line: string) => line.length <= MAX_MARKED;

export const readMarkdown: Reader = async (source, sink) => {
  const lines = (await readText(source, sink)).split('\n');
  let title: string | null = null;
  for (const piece of piecesOf(lines)) {
    if (piece.kind === 'heading' && title === null) title = piece.text;
    await sink.add(piece);
  }
  return { title, pages: null };
};

export function* piecesOf(lines: readonly string[]): Generator<Element> {
  let at = frontMatterEnd(lines);
  while (at < lines.length) {
    const line = lines[at] as string;
    if (!isMarked(line)) {
      if (line.trim() !== '') yield linesPiece('paragraph', lines, at, at + 1);
      at++;
    } else if (line.trim() === '') at++;
    else if (FENCE.test(line)) at = yield* fenced(lines, at);
    else if (HEADING.test(line)) at = yield* heading(lines, at);
    else if (RULE.test(line)) {
      yield { kind: 'rule', text: '', where: { kind: 'lines', from: at + 1, starts: [0] } };
      at++;
    } else if (line.includes('|') && isTableRule(lines[at + 1] ?? '')) {
      at = yield* table(lines, at);
    } else if (/^ {4}|^\t/.test(line) && !ITEM.test(line))
      at = yield* run('code', lines, at, (next) => !/^ {4}|^\t/.test(next));
    else if (QUOTE.test(line)) at = yield* run('quote', lines, at, (next) => !QUOTE.test(next));
    else if (ITEM.test(line)) at = yield* run('item', lines, at, begins);
    else at = yield* paragraph(lines, at);
  }
}

/** YAML front matter between two lines of dashes at the top is skipped. */
function frontMatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trim() !== '---') return 0;
  const end = lines.findIndex((line, at) => at > 0 && /^(---|\.\.\.)\s*$/.test(line));
  return end > 0 && end < 100 ? end + 1 : 0;
}

const isTableRule = (line: string) => isMarked(line) && line.includes('-') && TABLE_RULE.test(line);

const begins = (line: string): boolean =>
  !isMarked(line) ||
  line.trim() === '' ||
  FENCE.test(line) ||
  HEADING.test(line) ||
  ITEM.test(line) ||
  QUOTE.test(line) ||
  RULE.test(line);

function* fenced(lines: readonly string[], at: number): Generator<Element, number> {
  const fence = lines[at]?.match(FENCE)?.[1] ?? '```';
  let end = at + 1;
  while (end < lines.length && !(lines[end] ?? '').trim().startsWith(fence)) end++;
  if (end > at + 1) yield linesPiece('code', lines, at + 1, end);
  return end + 1;
}

function* heading(lines: readonly string[], at: number): Generator<Element, number> {
  const [, marks = '#', text = ''] = lines[at]?.match(HEADING) ?? [];
  if (text !== '') yield { ...pieceOfLines('heading', [plain(text)], at), level: marks.length };
  return at + 1;
}

function* table(lines: readonly string[], at: number): Generator<Element, number> {
  let end = at;
  for (; end < lines.length && isMarked(lines[end] ?? '') && (lines[end] ?? '').includes('|'); end++) {
    if (end === at + 1) continue;
    const cells = cellsOf(lines[end] ?? '');
    const text = cells.join(CELL_SEPARATOR);
    yield {
      kind: 'row',
      text,
      cells,
      ...(end === at && { head: true }),
      where: { kind: 'lines', from: end + 1, starts: [0] },
    };
  }
  return end;
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => plain(cell.trim().replaceAll('\\|', '|')));

/** Lines from `at` until one for which `ends` is true, without markup. */
function* run(
  kind: 'item' | 'quote' | 'code',
  lines: readonly string[],
  at: number,
  ends: (line: string) => boolean,
): Generator<Element, number> {
  let end = at + 1;
  while (end < lines.length && isMarked(lines[end] ?? '') && lines[end]?.trim() !== '' && !ends(lines[end] as string)) {
    end++;
  }
  const texts = lines.slice(at, end).map((line) => {
    if (kind === 'code') return line.replace(/^ {4}|^\t/, '');
    return plain(line.replace(kind === 'quote' ? QUOTE : /^\s*(?:[-*+]\s+)?/, ''));
  });
  yield pieceOfLines(kind, texts, at);
  return end;
}

function* paragraph(lines: readonly string[], at: number): Generator<Element, number> {
  let end = at + 1;
  for (; end < lines.length; end++) {
    const line = lines[end] as string;
    if (!isMarked(line)) break;
    const under = line.match(/^ {0,3}(=+|-+)\s*$/);
    if (under) {
      const texts = lines.slice(at, end).map((one) => plain(one.trim()));
      yield { ...pieceOfLines('heading', texts, at), level: under[1]?.startsWith('=') ? 1 : 2 };
      return end + 1;
    }
    if (begins(line)) break;
  }
  yield pieceOfLines(
    'paragraph',
    lines.slice(at, end).map((one) => plain(one.trim())),
    at,
  );
  return end;
}

/** Text without inline markup. */
export function plain(text: string): string {
  const kept: string[] = [];
  const keep = (part: string) => `\ue000${kept.push(part) - 1}\ue000`;
  return text
    .replace(/(`+)(.+?)\1(?!`)/g, (_, __, code: string) => keep(code.trim()))
    .replace(/\\([!-/:-@[-`{-~])/g, (_, sign: string) => keep(sign))
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/<(https?:[^>\s]+|[^@\s>]+@[^>\s]+)>/g, '$1')
    .replace(/<\/?[a-zA-Z][^>]*>/g, '')
    .replace(/(\*{1,3}|~~)(?=\S)(.+?)(?<=\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}])(_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\p{L}\p{N}])/gu, '$2')
    .replace(/\ue000(\d+)\ue000/g, (_, at: string) => kept[Number(at)] ?? '');
}
