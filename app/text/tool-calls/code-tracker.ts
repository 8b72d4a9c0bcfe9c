/** Whether a text that is read piece by piece stands inside code just now: what looks like a call there is shown, not made. */
export type CodeTracker = { push(text: string): void; readonly inCode: boolean };

export function createCodeTracker(): CodeTracker {
  let line = '';
  let fence: string | null = null;

  /** https://spec.commonmark.org/0.31.2/#fenced-code-blocks */
  function endLine() {
    const [, marks = '', info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (marks !== '') {
      if (fence === null) fence = marks[0] === '`' && info.includes('`') ? null : marks;
      else if (marks[0] === fence[0] && marks.length >= fence.length && info.trim() === '') fence = null;
    }
    line = '';
  }

  return {
    push(text) {
      const lines = text.split('\n');
      lines.forEach((part, index) => {
        // Only the beginning of a line opens a fence; of the rest it counts how many marks are open.
        line = line.length < MAX_LINE ? line + part : line;
        if (index < lines.length - 1) endLine();
      });
    },
    get inCode() {
      if (fence !== null) return true;
      const [, marks = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
      return marks !== '' || (line.match(/`/g)?.length ?? 0) % 2 === 1;
    },
  };
}

/** What stands behind this many characters of a line is taken for prose. */
const MAX_LINE = 10_000;
