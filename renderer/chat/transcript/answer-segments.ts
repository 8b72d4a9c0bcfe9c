import type { Message, ToolUse } from '../../../app/protocol/index.ts';

/** A stretch of an answer's text, and the calls that come after it. */
export type Segment = { from: number; to: number; uses: readonly ToolUse[] };

/** Splits an answer at its calls. The last segment is the text since the last call, and may be empty. */
export function segmentsOf({ text, toolUses }: Pick<Message, 'text' | 'toolUses'>): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  for (const step of new Set(toolUses.map((use) => use.step))) {
    const uses = toolUses.filter((use) => use.step === step);
    const to = Math.min(text.length, Math.max(from, uses[0]?.textAt ?? from));
    segments.push({ from, to, uses });
    from = to;
  }
  return [...segments, { from, to: text.length, uses: [] }];
}

/** Marks of a whole text, relative to a segment of it. */
export const marksIn = <Mark extends { end: number }>(marks: readonly Mark[], { from, to }: Segment): Mark[] =>
  marks.filter(({ end }) => end > from && end <= to).map((mark) => ({ ...mark, end: mark.end - from }));
