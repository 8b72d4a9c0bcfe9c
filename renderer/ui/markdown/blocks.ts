import { LONGEST_FORMULA, MAX_CELLS, MAX_ITEMS } from './limits.ts';

/** The blocks of a growing Markdown text. Only blocks are distinguished here, so that finished ones need not render again;
 *  inline content is left to the Markdown library. */
export type Align = 'start' | 'center' | 'end';
export type Block =
  | { kind: 'leaf'; source: string }
  | { kind: 'code'; language: string; text: string; closed: boolean }
  | { kind: 'math'; tex: string }
  /** An unclosed formula. While the text grows it is shown as one; when finished, as plain text. */
  | { kind: 'open-math'; tex: string; source: string }
  /** Shown as source: a list or table so large that rendering it would freeze the page. */
  | { kind: 'raw'; source: string }
  | { kind: 'list'; ordered: boolean; start: number; items: string[] }
  | { kind: 'quote'; source: string }
  | { kind: 'table'; align: Align[]; header: string[]; rows: string[][] }
  | { kind: 'rule' };

type Placed = { block: Block; start: number };
type Line = { text: string; start: number };

/** The state of splitting a growing text. `finished` keeps object identity: an unchanged block is the same object. */
export type BlockStream = {
  readonly finished: readonly Block[];
  readonly open: Block | null;
  readonly openFrom: number;
  readonly seen: string;
};

export const emptyStream: BlockStream = { finished: [], open: null, openFrom: 0, seen: '' };

/** Splits the new end of `text`. All blocks but the last are finished: a later character cannot change them. */
export function advance(stream: BlockStream, text: string): BlockStream {
  if (text === stream.seen) return stream;
  const base = text.startsWith(stream.seen) ? stream : emptyStream;
  const placed = splitFrom(text, base.openFrom);
  const last = placed.at(-1);
  if (!last) return { ...base, open: null, seen: text };
  const closed = placed.slice(0, -1).map((entry) => entry.block);
  return {
    finished: closed.length === 0 ? base.finished : [...base.finished, ...closed],
    open: last.block,
    openFrom: last.start,
    seen: text,
  };
}

export const splitBlocks = (text: string): Block[] => splitFrom(text, 0).map((entry) => entry.block);

const SECTION = 1_500;

/** Section starts: about every 1,500 characters, at a block boundary. Grows only at the end. */
export function sectionStarts(blocks: readonly Block[]): number[] {
  const starts = [0];
  let size = 0;
  blocks.forEach((block, index) => {
    if (size >= SECTION) {
      starts.push(index);
      size = 0;
    }
    size += sizeOf(block);
  });
  return starts;
}

function sizeOf(block: Block): number {
  switch (block.kind) {
    case 'leaf':
    case 'quote':
    case 'raw':
    case 'open-math':
      return block.source.length;
    case 'code':
      return block.text.length;
    case 'math':
      return block.tex.length * 4;
    case 'list':
      return block.items.reduce((sum, item) => sum + item.length, 0);
    case 'table':
      return block.rows.length * block.header.length * 24;
    case 'rule':
      return 0;
  }
}

function splitFrom(text: string, from: number): Placed[] {
  const lines = linesOf(text, from);
  const placed: Placed[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] as Line;
    if (isBlank(line.text)) {
      at += 1;
      continue;
    }
    const [block, next] = readBlock(lines, at);
    placed.push({ block, start: line.start });
    at = next;
  }
  return placed;
}

function linesOf(text: string, from: number): Line[] {
  const lines: Line[] = [];
  let start = from;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    const stop = end === -1 ? text.length : end;
    lines.push({ text: text.slice(start, stop).replace(/\r$/, ''), start });
    start = stop + 1;
  }
  return lines;
}

//  All of these must run in time linear in the line: a hostile line of a megabyte would freeze the page.
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}#{1,6}(\s|$)/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}>/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:( {1,4}|\t)(.*)|)$/;
const UNDERLINE = /^ {0,3}(=+|-+)\s*$/;
const DELIMITER = /^[\s|:-]*$/;
const DELIMITER_CELL = /^:?-+:?$/;

const isBlank = (text: string) => text.trim() === '';
const textAt = (lines: readonly Line[], at: number) => lines[at]?.text;

type Read = [block: Block, next: number];

function readBlock(lines: readonly Line[], at: number): Read {
  const text = (lines[at] as Line).text;
  const fence = FENCE.exec(text);
  if (fence) return readFence(lines, at, fence[1] as string, fence[2] as string);
  const math = readMath(lines, at);
  if (math) return math;
  if (HEADING.test(text)) return [{ kind: 'leaf', source: text }, at + 1];
  if (RULE.test(text)) return [{ kind: 'rule' }, at + 1];
  if (QUOTE.test(text)) return readQuote(lines, at);
  const item = ITEM.exec(text);
  if (item) return readList(lines, at, item[2] as string);
  return readTable(lines, at) ?? readParagraph(lines, at);
}

function readFence(lines: readonly Line[], at: number, mark: string, info: string): Read {
  const close = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}\\s*$`);
  const indent = /^ */.exec((lines[at] as Line).text)?.[0].length ?? 0;
  const body: string[] = [];
  let next = at + 1;
  while (next < lines.length && !close.test((lines[next] as Line).text)) {
    body.push((lines[next] as Line).text.replace(new RegExp(`^ {0,${indent}}`), ''));
    next += 1;
  }
  const closed = next < lines.length;
  const language = info.trim().split(/\s+/)[0] ?? '';
  return [{ kind: 'code', language, text: body.join('\n'), closed }, closed ? next + 1 : next];
}

/** `$$ … $$` and `\[ … \]` on lines of their own. Not a formula without an end before the next empty line. */
function readMath(lines: readonly Line[], at: number): Read | null {
  const first = (lines[at] as Line).text.trim();
  const pair = first.startsWith('$$') ? '$$' : first.startsWith('\\[') ? '\\]' : null;
  if (!pair) return null;
  let tex = '';
  for (let next = at; next < lines.length && tex.length <= LONGEST_FORMULA; next += 1) {
    const line = next === at ? first.slice(2) : (lines[next] as Line).text;
    if (next > at && isBlank(line)) return null;
    const end = line.indexOf(pair);
    if (end !== -1) {
      if (!isBlank(line.slice(end + 2))) return null;
      return [{ kind: 'math', tex: `${tex}${line.slice(0, end)}`.trim() }, next + 1];
    }
    tex += `${line}\n`;
    if (next === lines.length - 1)
      return [{ kind: 'open-math', tex: tex.trim(), source: sourceOf(lines, at, next + 1) }, next + 1];
  }
  return null;
}

const sourceOf = (lines: readonly Line[], from: number, to: number): string =>
  lines
    .slice(from, to)
    .map((line) => line.text)
    .join('\n');

function readQuote(lines: readonly Line[], at: number): Read {
  const body: string[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const text = (lines[next] as Line).text;
    if (QUOTE.test(text)) body.push(text.replace(/^ {0,3}> ?/, ''));
    else if (isBlank(text) || interrupts(text)) break;
    else body.push(text);
  }
  return [{ kind: 'quote', source: body.join('\n') }, next];
}

function readList(lines: readonly Line[], at: number, firstMarker: string): Read {
  const ordered = /\d/.test(firstMarker);
  const kind = firstMarker.at(-1);
  const items: string[] = [];
  let next = at;
  while (next < lines.length) {
    const match = ITEM.exec((lines[next] as Line).text);
    if (!match || (match[2] as string).at(-1) !== kind || RULE.test((lines[next] as Line).text)) break;
    const [source, after] = readItem(lines, next, match);
    items.push(source);
    next = skipBlank(lines, after);
    if (next > after && !ITEM.test(textAt(lines, next) ?? '')) return [list(), after];
  }
  return [list(), next];

  function list(): Block {
    if (items.length > MAX_ITEMS) return { kind: 'raw', source: sourceOf(lines, at, next) };
    return { kind: 'list', ordered, start: ordered ? Number.parseInt(firstMarker, 10) : 1, items };
  }
}

/** An item continues while lines are indented. Two spaces suffice even below "1.", since models often write only two. */
function readItem(lines: readonly Line[], at: number, match: RegExpExecArray): [source: string, next: number] {
  const indent = (match[1] as string).length + (match[2] as string).length + (match[3]?.length ?? 1);
  const inside = Math.min(indent, (match[1] as string).length + 2);
  const body = [match[4] ?? ''];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const text = (lines[next] as Line).text;
    if (isBlank(text)) {
      const after = skipBlank(lines, next);
      if (indentOf(textAt(lines, after) ?? '') < inside) break;
      for (; next < after; next += 1) body.push('');
      next -= 1;
    } else if (indentOf(text) >= inside)
      body.push(text.replace(/\t/g, '    ').replace(new RegExp(`^ {0,${indent}}`), ''));
    else if (interrupts(text) || ITEM.test(text)) break;
    else body.push(text);
  }
  return [body.join('\n'), next];
}

const indentOf = (text: string) => /^[ \t]*/.exec(text)?.[0].replace(/\t/g, '    ').length ?? 0;

function skipBlank(lines: readonly Line[], at: number): number {
  let next = at;
  while (next < lines.length && isBlank((lines[next] as Line).text)) next += 1;
  return next;
}

function readTable(lines: readonly Line[], at: number): Read | null {
  const head = (lines[at] as Line).text;
  const delimiter = textAt(lines, at + 1);
  if (!head.includes('|') || delimiter === undefined || !DELIMITER.test(delimiter)) return null;
  const header = cellsOf(head);
  const marks = cellsOf(delimiter);
  if (header.length !== marks.length || !marks.every((mark) => DELIMITER_CELL.test(mark))) return null;
  const align = marks.map(alignOf);
  const rows: string[][] = [];
  const most = Math.floor(MAX_CELLS / header.length) - 1;
  let next = at + 2;
  for (; next < lines.length; next += 1) {
    const text = (lines[next] as Line).text;
    if (isBlank(text) || interrupts(text)) break;
    if (rows.length > most) continue;
    const cells = cellsOf(text);
    rows.push(header.map((_, column) => cells[column] ?? ''));
  }
  if (rows.length > most) return [{ kind: 'raw', source: sourceOf(lines, at, next) }, next];
  return [{ kind: 'table', align, header, rows }, next];
}

/** Cells between unescaped bars. Bars inside `code` must be escaped too, as GFM says. */
function cellsOf(text: string): string[] {
  const cells = text
    .trim()
    .replace(/^\|/, '')
    .split(/(?<!\\)\|/);
  if (cells.length > 1 && isBlank(cells.at(-1) ?? '')) cells.pop();
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function alignOf(cell: string): Align {
  if (!cell.endsWith(':')) return 'start';
  return cell.startsWith(':') ? 'center' : 'end';
}

function readParagraph(lines: readonly Line[], at: number): Read {
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const text = (lines[next] as Line).text;
    if (UNDERLINE.test(text)) {
      next += 1;
      break;
    }
    if (isBlank(text) || interrupts(text) || readTable(lines, next)) break;
  }
  return [{ kind: 'leaf', source: sourceOf(lines, at, next) }, next];
}

/** What may begin without an empty line before it. A number other than 1 may not: "in\n1984. It was" is text. */
function interrupts(text: string): boolean {
  if (FENCE.test(text) || HEADING.test(text) || RULE.test(text) || QUOTE.test(text)) return true;
  if (/^\s*(\$\$|\\\[)/.test(text)) return true;
  const item = ITEM.exec(text);
  return item !== null && (item[4] ?? '') !== '' && !/^(?!1[.)])\d/.test(item[2] as string);
}
