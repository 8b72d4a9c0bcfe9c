export type Part = { kind: 'text'; text: string } | { kind: 'code'; language: string; text: string };

const OPEN = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;

/** Splits a text into plain text and fenced code. An unclosed fence is text. */
export function fencesOf(text: string): Part[] {
  const lines = text.split('\n');
  const parts: Part[] = [];
  let plain: string[] = [];
  /** Fence lengths per character that are known to be unclosed, so that each is searched only once. */
  const unclosed = new Map<string, number>();
  for (let at = 0; at < lines.length; at += 1) {
    const open = OPEN.exec(lines[at] as string);
    const mark = open?.[1] ?? '';
    const hopeless = mark.length >= (unclosed.get(mark.slice(0, 1)) ?? Number.POSITIVE_INFINITY);
    const end = open && !hopeless ? closingLine(lines, at + 1, mark) : -1;
    if (open && end === -1 && !hopeless) unclosed.set(mark.slice(0, 1), mark.length);
    if (!open || end === -1) {
      plain.push(lines[at] as string);
      continue;
    }
    if (plain.some((line) => line !== '')) parts.push({ kind: 'text', text: plain.join('\n') });
    plain = [];
    const language = (open[2] as string).trim().split(/\s+/)[0] ?? '';
    parts.push({ kind: 'code', language, text: lines.slice(at + 1, end).join('\n') });
    at = end;
  }
  if (plain.some((line) => line !== '') || parts.length === 0) parts.push({ kind: 'text', text: plain.join('\n') });
  return parts;
}

function closingLine(lines: readonly string[], from: number, mark: string): number {
  const close = new RegExp(`^\\s*\\${mark[0]}{${mark.length},}\\s*$`);
  for (let at = from; at < lines.length; at += 1) if (close.test(lines[at] as string)) return at;
  return -1;
}
