// What the loop detector says about the lists in files on this machine:
//
//   node test/bench/loops/lists.ts FOLDER … [--half tuning|report]
//
// A file counts if it has eight list entries in a row; compressed files are read too, each up to 200,000 characters. The half that
// a file belongs to depends on its path alone. Every finding is printed, then a row of the table in test/app/text/loop/README.md.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { LoopGuard } from '../../../app/text/loop/loop-detector.ts';
import { halfOf } from '../../app/text/loop/exam/cases.ts';
import { tokens } from '../../app/text/loop/tokens.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { half: { type: 'string', default: 'tuning' } },
});

const LONGEST = 200_000;
const readable =
  /\.(?:md|txt|rst|html|ya?ml|pod|po|log|gz)$|^(?:readme|licen[cs]e|changes|changelog|copyright|news|authors|todo)/i;
const entry = /^[\s>#*]*(?:[-*•+]|\(?\d{1,5}[.):])\s+\S/;

function* filesIn(folder: string): Generator<string> {
  for (const found of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(found.parentPath, found.name);
    if (found.isFile() && readable.test(found.name) && lstatSync(path).size < 2_000_000) yield path;
  }
}

function textOf(path: string): string {
  const bytes = readFileSync(path);
  const text = path.endsWith('.gz') ? gunzipSync(bytes).toString('utf8') : bytes.toString('utf8');
  return text.includes('\0') ? '' : text.slice(0, LONGEST);
}

function isList(text: string): boolean {
  let row = 0;
  for (const line of text.split('\n')) {
    if (entry.test(line)) row += 1;
    else if (line.trim() !== '') row = 0;
    if (row >= 8) return true;
  }
  return false;
}

const said = new Map<string, number>();
const seen = new Set<string>();
let files = 0;
let all = 0;
for (const path of positionals.flatMap((folder) => [...filesIn(folder)]).filter((one) => halfOf(one) === values.half)) {
  const text = textOf(path);
  if (!isList(text) || seen.has(text.slice(0, 2000))) continue;
  seen.add(text.slice(0, 2000));
  files += 1;
  const guard = new LoopGuard({ sensitivity: 'balanced', inAnswers: true });
  for (const { id, text: piece } of tokens(text, 'words')) {
    all += 1;
    const found = guard.push(id, piece, 'answer');
    if (!found) continue;
    const what = `${found.degree} ${found.kind}`;
    said.set(what, (said.get(what) ?? 0) + 1);
    process.stdout.write(`${what} ×${found.repeats} ${path}: ${JSON.stringify(found.text.slice(0, 160))}\n`);
    if (found.degree === 'card') guard.act(found.repeats);
  }
}
const rates = [...said].map(([what, count]) => `${what} ${count} (${((count * 1e6) / all).toFixed(2)} a million)`);
process.stdout.write(`| ${values.half} | ${files} files | ${all} tokens | ${rates.join(', ') || 'nothing said'} |\n`);
