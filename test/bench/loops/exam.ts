// The loop detector on texts that others wrote:
//
//   node test/bench/loops/exam.ts FOLDER --half tuning|report [--detector ours|cusum-6|cusum-8|cusum-12|…] [--vocabulary starter|words]
//        [--sound FOLDER …] [--texts FILE …] [--only GROUP] [--misses] [--alarms]
//
// FOLDER holds the examination's *.jsonl.gz (see test/app/text/loop/README.md for their fields). --sound names folders of sound
// files, read as answers and as thinking; --texts files with a JSON line for each sound text, read whole. The half that a text
// belongs to depends on its id alone: thresholds are set on the tuning half, and the report half is read once per release. One table as Markdown, or one line of JSON with --json.
import { parseArgs } from 'node:util';
import { type Case, casesOf, type Half, soundFiles, soundTexts } from '../../app/text/loop/exam/cases.ts';
import { cusum } from '../../app/text/loop/exam/cusum.ts';
import { alarmsIn, type Detector, examine, ours, type Verdict } from '../../app/text/loop/exam/run.ts';
import { markdown, tally } from '../../app/text/loop/exam/table.ts';
import type { Vocabulary } from '../../app/text/loop/tokens.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    half: { type: 'string', default: 'tuning' },
    detector: { type: 'string', default: 'ours' },
    vocabulary: { type: 'string', default: 'words' },
    sound: { type: 'string', multiple: true, default: [] },
    texts: { type: 'string', multiple: true, default: [] },
    'sound-tokens': { type: 'string', default: '2000000' },
    only: { type: 'string' },
    misses: { type: 'boolean', default: false },
    alarms: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

function detectorOf(name: string): () => Detector {
  if (name === 'ours') return ours;
  const size = Number(/^cusum-(\d+)$/.exec(name)?.[1]);
  if (!size) throw new Error(`--detector ${name}: expected ours or cusum-N`);
  return () => cusum(size);
}

const half = values.half as Half;
const vocabulary = values.vocabulary as Vocabulary;
const make = detectorOf(values.detector);
const wanted = (one: Case) => values.only === undefined || one.group.startsWith(values.only);
const folder = positionals[0];
const cases = (folder ? casesOf(folder, half) : []).filter(wanted);
const files = [...soundFiles(values.sound, half, Number(values['sound-tokens']))].filter(wanted);
const texts = values.texts.flatMap((file) => [...soundTexts(file)]).filter(wanted);

const verdicts: Verdict[] = [];
for (const one of [...cases, ...files, ...texts]) {
  const verdict = one.loop ? examine(one, make, vocabulary) : alarmsIn(one, make, vocabulary);
  verdicts.push(...(Array.isArray(verdict) ? verdict : [verdict]));
}

if (values.misses) {
  for (const { id, kind, group, found, late } of verdicts.filter(
    (verdict) => verdict.loop && (!verdict.found || verdict.late),
  ))
    process.stdout.write(`${found ? `late ${late}` : 'missed'} ${group} ${id} (${kind})\n`);
}
if (values.alarms) {
  for (const { id, kind, place, alarms } of verdicts.filter(({ loop, alarms }) => !loop && alarms.length > 0))
    for (const { degree, kind: sort, repeats: copies, periodTokens: period, text } of alarms)
      process.stdout.write(
        `${degree} ${place} ${id} (${kind}): ${sort} ×${copies} of ${period} ${JSON.stringify(text.slice(0, 200))}\n`,
      );
}
const table = tally(verdicts);
process.stdout.write(
  values.json ? `${JSON.stringify({ half, vocabulary, detector: values.detector, table })}\n` : markdown(table),
);
