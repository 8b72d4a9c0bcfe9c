import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Place } from '../../../../../app/text/loop/levels.ts';
import { type Piece, tokens } from '../tokens.ts';
import { tailOf } from './tail.ts';

export type Half = 'tuning' | 'report';

/** One text. `loop`: it goes round from character `begin` on, a copy being `cycle` characters long and ending at `ends`; null:
 *  it is sound, and what is said about it is a false alarm. */
export interface Case {
  readonly id: string;
  readonly group: string;
  readonly kind: string;
  readonly parts: readonly { readonly where: Place; readonly text: string }[];
  /** As a model wrote it; else it is cut into tokens by the runner. */
  readonly pieces?: readonly (Piece & { place: Place })[];
  /** Where a sound text can stand. */
  readonly places: readonly Place[];
  readonly loop: {
    readonly begin: number;
    readonly cycle: number;
    readonly ends: readonly number[];
  } | null;
}

/** By the id alone, so that what is added later moves nothing. */
export const halfOf = (id: string): Half =>
  (createHash('sha256').update(id).digest()[0] as number) % 2 === 0 ? 'tuning' : 'report';

type Row = {
  id: string;
  kind: string;
  text?: string;
  where?: Place;
  parts?: Case['parts'];
  begin?: number;
  cycle?: number;
  ends?: number[];
  model?: string;
  ids?: number[];
  pieces?: string[];
  places?: string;
  prompt?: string;
};

function rowsOf(folder: string, name: string): Row[] {
  const path = join(folder, `${name}.jsonl.gz`);
  if (!existsSync(path)) return [];
  const lines = gunzipSync(readFileSync(path)).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

const groups: [RegExp, string][] = [
  [/^drift/, 'drifting'],
  [/reworded/, 'reworded'],
  [/^left after/, 'left'],
];
const both: Place[] = ['answer', 'thinking'];

/** Texts given as sound that go round to the end, by eye. */
const judged = new Set([
  'wild51095',
  'wild16285',
  'wild2430',
  'wild41932',
  'wild3488',
  'wild20601',
  'wild3041',
  'wild2756',
]);

export function casesOf(folder: string, half: Half): Case[] {
  const cases = [
    ...rowsOf(folder, 'wild_loops').map((row) => loopOf(row, 'exact, real outputs')),
    ...rowsOf(folder, 'wild_near').map((row) => loopOf(row, 'runaways')),
    ...rowsOf(folder, 'pos').map((row) => loopOf(row, groups.find(([name]) => name.test(row.kind))?.[1] ?? 'made')),
    ...['gen_qwen', 'gen_smol', 'gen_starter'].flatMap((name) =>
      rowsOf(folder, name).flatMap((row, at) => recorded(row, at)),
    ),
    ...rowsOf(folder, 'neg_wild').map((row) => soundOf(row, 'sound, real outputs')),
    ...rowsOf(folder, 'neg_made').map((row) => soundOf(row, 'sound, made')),
    ...rowsOf(folder, 'neg_made2').map((row) => soundOf(row, 'sound, made')),
  ];
  return cases.filter(({ id, loop }) => halfOf(id) === half && (loop !== null || !judged.has(id)));
}

const loopOf = ({ id, kind, parts = [], begin = 0, cycle = 1, ends = [] }: Row, group: string): Case => ({
  id,
  group,
  kind,
  parts,
  places: [],
  loop: group === 'left' ? null : { begin, cycle, ends },
});

const soundOf = ({ id, kind, text = '', where }: Row, group: string): Case => ({
  id,
  group,
  kind,
  parts: [{ where: 'answer', text }],
  places: where ? [where] : both,
  loop: null,
});

/** What was recorded without a guard counts as a loop where its end goes round exactly, four times and for 128 tokens; how
 *  sound the others are nobody has said. */
function recorded({ id, model = '', ids = [], pieces = [], places = '' }: Row, at: number): Case[] {
  const tail = tailOf(ids);
  if (!tail) return [];
  const place = (index: number): Place => (places[index] === 't' ? 'thinking' : 'answer');
  const begin = pieces.slice(0, tail.begin).join('').length;
  const cycle = pieces.slice(tail.begin, tail.begin + tail.period).join('').length;
  const whole = pieces.join('').length;
  const ends = Array.from(
    { length: Math.floor((whole - begin) / Math.max(1, cycle)) },
    (_, copy) => begin + (copy + 1) * cycle,
  );
  return [
    {
      id,
      group: 'exact, recorded',
      kind: `${model} ${at}`,
      parts: [],
      pieces: ids.map((token, index) => ({
        id: token,
        text: pieces[index] ?? '',
        place: place(index),
      })),
      places: [],
      loop: { begin, cycle, ends },
    },
  ];
}

/** Texts of a file with a JSON line for each ("id", "text", "kind", and "where" it can stand). One that ends in an exact loop is no
 *  sound text, and left out. */
export function* soundTexts(file: string): Generator<Case> {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const row = JSON.parse(line) as Omit<Row, 'where'> & {
      where?: Place | 'both';
    };
    const { id, kind, text = '', where = 'both' } = row;
    if (tailOf(tokens(text, 'words').map(({ id: token }) => token))) continue;
    yield {
      id,
      group: kind,
      kind,
      parts: [{ where: 'answer', text }],
      places: where === 'both' ? both : [where],
      loop: null,
    };
  }
}

const readable =
  /\.(md|txt|rst|py|js|ts|json|csv|log|c|h|html|css|ya?ml|sql|sh|xml|tsv|ini|toml|po)$|^(README|LICENSE|CHANGES|copyright|NEWS|AUTHORS|changelog)/i;

/** Files of the folders, in the order of a hash, until there are `most` tokens of about four characters. */
export function* soundFiles(folders: readonly string[], half: Half, most: number): Generator<Case> {
  for (const folder of folders) {
    const paths = [...files(folder)].filter((path) => halfOf(path.slice(folder.length)) === half);
    const ordered = paths.map((path) => ({
      path,
      key: createHash('sha256').update(path.slice(folder.length)).digest('hex'),
    }));
    ordered.sort((one, other) => (one.key < other.key ? -1 : 1));
    let left = most * 4;
    const seen = new Set<string>();
    for (const { path } of ordered) {
      if (left <= 0) break;
      const bytes = readFileSync(path);
      if (bytes.includes(0)) continue;
      const text = bytes.toString('utf8').slice(0, 60_000);
      const key = createHash('sha256').update(text.slice(0, 2000)).digest('hex');
      if (text.length < 1000 || seen.has(key)) continue;
      seen.add(key);
      left -= text.length;
      const kind = /\.[a-z]+$/i.exec(path)?.[0] ?? 'plain';
      yield {
        id: path,
        group: `files of ${folder}`,
        kind,
        parts: [{ where: 'answer', text }],
        places: both,
        loop: null,
      };
    }
  }
}

function* files(folder: string, depth = 0): Generator<string> {
  if (depth > 12) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path, depth + 1);
    else if (
      entry.isFile() &&
      readable.test(entry.name) &&
      !/\.min\./.test(entry.name) &&
      lstatSync(path).size < 2_000_000
    )
      yield path;
  }
}
