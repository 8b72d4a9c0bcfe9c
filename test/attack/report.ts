// Prints the table of attacks from the counts of the last runs: node test/attack/report.ts [--write]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLASSES, type ClassName } from './classes.ts';
import { countsOf, uncounted } from './counts.ts';
import { begins, ends, figuresFile, lineOf, TABLES } from './table.ts';

const root = join(import.meta.dirname, '..', '..');
const names = Object.keys(CLASSES) as ClassName[];
const rows = names.map((name) => ({ title: CLASSES[name].title, ...countsOf(name) })).filter(({ tried }) => tried > 0);
const sum = (key: 'tried' | 'refused') => rows.reduce((total, row) => total + row[key], 0);
const all = { title: '**all**', tried: sum('tried'), refused: sum('refused') };
const table = ['| attack | tried | refused |', '|---|---:|---:|', ...[...rows, all].map(lineOf)].join('\n');
process.stdout.write(`${table}\n`);

if (process.argv.includes('--write')) {
  const missing = uncounted();
  if (missing.length > 0) {
    process.stderr.write(`The table is of a full run, and these have not run: ${missing.join(', ')}\n`);
    process.exit(1);
  }
  for (const path of TABLES) {
    const file = join(root, path);
    const text = readFileSync(file, 'utf8');
    const [from, to] = [text.indexOf(begins), text.indexOf(ends)];
    if (from < 0 || to < from) continue;
    writeFileSync(file, `${text.slice(0, from + begins.length)}\n${table}\n${text.slice(to)}`);
  }
  const { tried, refused } = all;
  writeFileSync(join(root, figuresFile), `${JSON.stringify({ kinds: rows.length, tried, refused })}\n`);
}
