// The two tables "On the examination" of test/app/text/loop/README.md, ours beside CUSUM, as Markdown:
//
//   node test/bench/loops/table.ts EXAM [--sound FOLDER …] [--texts FILE …]
//
// Reads the report half (see exam.ts), and the findings of the tuning half.
import { parseArgs } from 'node:util';
import { type Case, casesOf, soundFiles, soundTexts } from '../../app/text/loop/exam/cases.ts';
import { cusum } from '../../app/text/loop/exam/cusum.ts';
import { alarmsIn, type Detector, examine, ours } from '../../app/text/loop/exam/run.ts';
import { type LoopRow, type SoundRow, tally } from '../../app/text/loop/exam/table.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sound: { type: 'string', multiple: true, default: [] },
    texts: { type: 'string', multiple: true, default: [] },
  },
});
const [folder] = positionals;
if (!folder) {
  console.error('[table] the folder of the examination');
  process.exit(2);
}

const MOST = 2_000_000;
const tuning = casesOf(folder, 'tuning').filter(({ loop }) => loop !== null);
const report = casesOf(folder, 'report').filter(({ group }) => group !== 'left');
const sound = [...soundFiles(values.sound, 'report', MOST), ...values.texts.flatMap((file) => [...soundTexts(file)])];

function rows(cases: readonly Case[], make: () => Detector) {
  return tally(cases.flatMap((one) => (one.loop ? [examine(one, make, 'words')] : alarmsIn(one, make, 'words'))));
}

const percent = (part: number, all: number) => `${((100 * part) / all).toFixed(0)} %`;
const both = (row: LoopRow | undefined) =>
  row ? `${percent(row.found, row.all)}, ${percent(row.inTime, row.all)}` : '–';
const rate = (count: number, tokens: number) => ((count * 1e6) / tokens).toPrecision(2);
const of = <Row extends { group: string }>(all: readonly Row[], group: string) =>
  all.find((row) => row.group === group);

const fitted = rows(tuning, ours).loops;
const held = rows([...report, ...sound], ours);
const published = [6, 8, 12].map((size) =>
  rows([...report, ...values.texts.flatMap((file) => [...soundTexts(file)])], () => cusum(size)),
);
const stopped = ({ group, place }: SoundRow) =>
  published
    .map(({ sound }) => sound.find((row) => row.group === group && row.place === place)?.carded ?? '–')
    .join(' / ');

const lines = [
  '| loops | fitted on: found, in time | **not fitted on: texts** | **found** | as a card | **in time** | copies (median) | CUSUM 6-gram: found, in time | 8-gram | 12-gram |',
  '|---|---|---|---|---|---|---|---|---|---|',
  ...held.loops.map(
    ({ group, all, found, cards, inTime, copies }) =>
      `| ${group} | ${both(of(fitted, group))} | ${all} | **${percent(found, all)}** | ${cards} | **${percent(inTime, all)}** | ${copies ?? '–'} | ` +
      `${published.map(({ loops }) => both(of(loops, group))).join(' | ')} |`,
  ),
  '',
  '| sound text, not fitted on | as | texts | tokens | **cards a million** | in texts | quiet lines a million | CUSUM 6 / 8 / 12: texts stopped |',
  '|---|---|---|---|---|---|---|---|',
  ...held.sound.map(
    (row) =>
      `| ${row.group} | ${row.place} | ${row.texts} | ${row.tokens.toLocaleString('en')} | **${rate(row.cards, row.tokens)}** (${row.cards}) | ` +
      `${row.carded} | ${rate(row.quiet, row.tokens)} (${row.quiet}) | ${stopped(row)} |`,
  ),
];
process.stdout.write(`${lines.join('\n')}\n`);
