//  Where the figures of the attacks are written, and how.

export const begins = '<!-- attacks -->';
export const ends = '<!-- /attacks -->';
export const TABLES = ['README.md', 'test/attack/README.md'];
/** The figures shown on the page. */
export const figuresFile = 'renderer/settings/attacks.json';

export type Row = { title: string; tried: number; refused: number };

export const lineOf = ({ title, tried, refused }: Row): string =>
  `| ${title} | ${tried.toLocaleString('en')} | ${refused.toLocaleString('en')} |`;

/** The rows of the table in a text, including the sum. */
export function rowsIn(text: string): Row[] {
  const table = text.slice(text.indexOf(begins), text.indexOf(ends));
  const number = (written = '') => Number(written.replaceAll(',', ''));
  return [...table.matchAll(/^\| (.+) \| ([\d,]+) \| ([\d,]+) \|$/gm)].map(([, title = '', tried, refused]) => ({
    title,
    tried: number(tried),
    refused: number(refused),
  }));
}
