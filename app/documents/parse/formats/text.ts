import type { DocumentMetadata, Element, Reader, Sink, Source } from '../../element.ts';
import { readText } from './decode.ts';

//  Plain text: paragraphs are runs of lines between empty ones. Code and JSON: runs of lines, cut where nothing is indented.

/** Maximum lines of a code block. */
const MAX_LINES = 60;
/** Largest JSON that is pretty-printed: its values take several times the memory of its text. */
const MAX_FORMATTED = 16 * 1024 * 1024;
const MAX_DEPTH = 100;

export const readPlainText: Reader = async (source, sink) => {
  const lines = (await readText(source, sink)).split('\n');
  for (const { from, to } of runs(lines, (line) => line.trim() === '')) await sink.add(paragraph(lines, from, to));
  return { title: null, pages: null };
};

export const readCode: Reader = async (source, sink) => {
  const lines = (await readText(source, sink)).split('\n');
  return addCode(lines, source, sink);
};

/** JSON on one line is pretty-printed first; line numbers refer to that form. */
export const readJson: Reader = async (source, sink) => {
  const text = await readText(source, sink);
  const lines = text.split('\n');
  const long = lines.some((line) => line.length > 2000);
  if (!long || text.length > MAX_FORMATTED || isDeep(text)) return addCode(lines, source, sink);
  try {
    const laidOut = lines.filter((line) => line.trim() !== '').map((line) => JSON.stringify(JSON.parse(line), null, 1));
    sink.notice('laid-out');
    return addCode(laidOut.join('\n').split('\n'), source, sink);
  } catch {
    return addCode(lines, source, sink); // several lines, or invalid JSON: unchanged
  }
};

/** Whether the nesting is so deep that indentation would dominate. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

async function addCode(lines: readonly string[], source: Source, sink: Sink): Promise<DocumentMetadata> {
  for (const { from, to } of sections(lines)) {
    await sink.add(linesPiece('code', lines, from, to));
    sink.progress('file', Math.min(to, lines.length), lines.length);
  }
  return { title: source.fileName, pages: null };
}

/** Lines [from, to) between separators. */
function* runs(lines: readonly string[], separates: (line: string) => boolean) {
  let from = 0;
  for (let at = 0; at <= lines.length; at++) {
    if (at < lines.length && !separates(lines[at] as string)) continue;
    if (at > from) yield { from, to: at };
    from = at + 1;
  }
}

/** Cuts before an unindented line after an empty one, once a section is long enough. */
function* sections(lines: readonly string[]) {
  let from = 0;
  for (let at = 1; at <= lines.length; at++) {
    const length = at - from;
    const top = lines[at - 1]?.trim() === '' && /^[^\s)}\]]/.test(lines[at] ?? '');
    if (at < lines.length && length < MAX_LINES && !(top && length >= MAX_LINES / 6)) continue;
    if (lines.slice(from, at).some((line) => line.trim() !== '')) yield { from, to: at };
    from = at;
  }
}

function paragraph(lines: readonly string[], from: number, to: number): Element {
  return linesPiece('paragraph', lines, from, to);
}

/** Lines [from, to), counted from 0, verbatim; empty ones at either end are dropped. */
export function linesPiece(kind: Element['kind'], lines: readonly string[], from: number, to: number): Element {
  let first = from;
  let end = to;
  while (first < end && lines[first]?.trim() === '') first++;
  while (end > first && lines[end - 1]?.trim() === '') end--;
  return pieceOfLines(kind, lines.slice(first, end), first);
}

/** `texts[i]` is what is shown of line `first + i`, counted from 0. */
export function pieceOfLines(kind: Element['kind'], texts: readonly string[], first: number): Element {
  const starts: number[] = [];
  let offset = 0;
  for (const text of texts) {
    starts.push(offset);
    offset += text.length + 1;
  }
  return { kind, text: texts.join('\n'), where: { kind: 'lines', from: first + 1, starts } };
}
