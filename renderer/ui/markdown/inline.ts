//  Formulas inside text. The Markdown library must not parse their content, so a formula passes through it as a code span
//  whose first character marks it. Both marker characters are private-use ones and are removed from the input.

export const INLINE_MATH = '\uE000';
export const DISPLAY_MATH = '\uE001';

/** Rewrites `\(…\)`, `\[…\]`, `$$…$$` and `$…$` outside code. A dollar is a formula's only by pandoc's rule, so that
 *  "between $5 and $10" stays money: no space inside the marks, no digit after them. */
export function mathToCode(source: string): string {
  const text = source.replace(/[\uE000\uE001]/g, '\uFFFD');
  if (!/[$\\]/.test(text)) return text;
  let out = '';
  let at = 0;
  while (at < text.length) {
    const [piece, next] = readPiece(text, at);
    out += piece;
    at = next;
  }
  return out;
}

type Piece = [piece: string, next: number];

function readPiece(text: string, at: number): Piece {
  const char = text[at] as string;
  if (char === '`') return readCode(text, at);
  if (char === '\\') {
    if (text[at + 1] === '(') return formula(text, at, 2, '\\)', INLINE_MATH) ?? [text.slice(at, at + 2), at + 2];
    if (text[at + 1] === '[') return formula(text, at, 2, '\\]', DISPLAY_MATH) ?? [text.slice(at, at + 2), at + 2];
    return [text.slice(at, at + 2), at + 2];
  }
  if (char === '$') return readDollar(text, at);
  const next = text.slice(at).search(/[`$\\]/);
  return next === -1 ? [text.slice(at), text.length] : [text.slice(at, at + next), at + next];
}

/** A code span as it is, or its unmatched backticks. */
function readCode(text: string, at: number): Piece {
  const run = /^`+/.exec(text.slice(at))?.[0] ?? '`';
  let close = text.indexOf(run, at + run.length);
  while (close !== -1 && (text[close + run.length] === '`' || text[close - 1] === '`')) {
    close = text.indexOf(run, close + 1);
  }
  const end = close === -1 ? at + run.length : close + run.length;
  return [text.slice(at, end), end];
}

function readDollar(text: string, at: number): Piece {
  if (text[at + 1] === '$') return formula(text, at, 2, '$$', DISPLAY_MATH) ?? ['\\$\\$', at + 2];
  const close = closingDollar(text, at);
  if (close === -1) return ['\\$', at + 1];
  return [asCode(text.slice(at + 1, close), INLINE_MATH), close + 1];
}

function closingDollar(text: string, at: number): number {
  if (/^(\s|$)/.test(text.slice(at + 1, at + 2))) return -1;
  for (let next = at + 1; next < text.length; next += 1) {
    const char = text[next];
    if (char === '\\') next += 1;
    else if (char === '\n' && text[next + 1] === '\n') return -1;
    else if (char === '$') return /\s/.test(text[next - 1] as string) || /\d/.test(text[next + 1] ?? '') ? -1 : next;
  }
  return -1;
}

function formula(text: string, at: number, skip: number, close: string, kind: string): Piece | null {
  const end = text.indexOf(close, at + skip);
  if (end === -1) return null;
  const tex = text.slice(at + skip, end);
  return tex.trim() === '' ? null : [asCode(tex, kind), end + close.length];
}

function asCode(tex: string, kind: string): string {
  const longest = Math.max(0, ...Array.from(tex.matchAll(/`+/g), (run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${kind}${tex.trim()}${tex.endsWith('`') ? ' ' : ''}${fence}`;
}

/** Whether a code span is code or a formula. */
export function codeOrMath(
  text: string,
): { kind: 'code'; text: string } | { kind: 'math'; tex: string; display: boolean } {
  if (text.startsWith(INLINE_MATH)) return { kind: 'math', tex: text.slice(1), display: false };
  if (text.startsWith(DISPLAY_MATH)) return { kind: 'math', tex: text.slice(1), display: true };
  return { kind: 'code', text };
}

/** Only these addresses may be opened, and only after confirmation. Everything else stays text. */
export function openable(address: string | undefined): string | null {
  if (!address) return null;
  const parsed = URL.canParse(address) ? new URL(address) : null;
  return parsed && ['http:', 'https:', 'mailto:'].includes(parsed.protocol) ? parsed.href : null;
}

const PLAIN = /^(?!\d+[.)](?:\s|$))[\p{L}\p{N}][\p{L}\p{N} ,.%()'’“”–—…°×±€£+-]*$/u;
const LINK = /www\./i;

/** Whether Markdown would show a line exactly as it is: words and numbers, with punctuation that marks nothing. Most cells of a
 *  table are, and the library takes a millisecond for each. */
export const isPlainLine = (source: string): boolean => PLAIN.test(source) && !LINK.test(source);
