/** The end of the last whole sentence after `from`; `from` when there is none yet. A line end is one too. */
export function wholeSentences(text: string, from: number): number {
  const rest = text.slice(from);
  let end = 0;
  for (const match of rest.matchAll(/[.!?…。！？]["'”’)]*(?=\s)|\n/g)) end = (match.index ?? 0) + match[0].length;
  return from + end;
}

type Say = (key: 'speech.code' | 'speech.table', values: { count: number }) => string;

/** Markdown as spoken: code by its length, tables by their size, without syntax. */
export function spoken(markdown: string, say: Say): string {
  return markdown
    .replace(
      /```[^\n]*\n([\s\S]*?)(?:```|$)/g,
      (_, code: string) => ` ${say('speech.code', { count: code.trimEnd().split('\n').length })} `,
    )
    .replace(
      /(?:^\|.*\|[ \t]*(?:\n|$))+/gm,
      (table) => ` ${say('speech.table', { count: Math.max(1, table.trim().split('\n').length - 2) })} `,
    )
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+)/gm, '')
    .replace(/[*_`~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
