// The table of the attacks, from the counts of the last runs: node test/attack/report.ts [--write]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLASSES, type ClassName } from './classes.ts';
import { countsOf } from './counts.ts';

const begins = '<!-- attacks -->';
const ends = '<!-- /attacks -->';

const names = Object.keys(CLASSES) as ClassName[];
const rows = names.map((name) => ({ title: CLASSES[name].title, ...countsOf(name) })).filter(({ tried }) => tried > 0);
const line = (title: string, tried: number, refused: number) =>
  `| ${title} | ${tried.toLocaleString('en')} | ${refused.toLocaleString('en')} |`;
const sum = (key: 'tried' | 'refused') => rows.reduce((total, row) => total + row[key], 0);
const table = [
  '| attack | tried | refused |',
  '|---|---:|---:|',
  ...rows.map(({ title, tried, refused }) => line(title, tried, refused)),
  line('**all**', sum('tried'), sum('refused')),
].join('\n');
process.stdout.write(`${table}\n`);

if (process.argv.includes('--write')) {
  for (const path of ['README.md', 'test/attack/README.md']) {
    const file = join(import.meta.dirname, '..', '..', path);
    const text = readFileSync(file, 'utf8');
    const [from, to] = [text.indexOf(begins), text.indexOf(ends)];
    if (from < 0 || to < from) continue;
    writeFileSync(file, `${text.slice(0, from + begins.length)}\n${table}\n${text.slice(to)}`);
  }
}
