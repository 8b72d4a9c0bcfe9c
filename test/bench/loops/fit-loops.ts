// Fits app/text/loop/score.json, the odds that a round of near-copies is a loop:
//
//   node test/bench/loops/fit-loops.ts EXAM [--sound FOLDER …] [--texts FILE …] [--trees N] [--out FILE]
//
// EXAM is the folder of the examination (test/app/text/loop/README.md), of which the tuning half is read, as of the corpus in
// test/app/text/loop/corpus. --sound names folders of sound files, of which the tuning half is read too; --texts files with a
// JSON line for each sound text ("id", "text"), such as outputs of models; those that end in an exact loop are left out.
// Every round in a text is an example: of a loop from its third copy on, otherwise of sound text.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { link, noChains } from '../../../app/text/loop/near-duplicates.ts';
import type { Features } from '../../../app/text/loop/score.ts';
import { cut, noText } from '../../../app/text/loop/sentences.ts';
import { installed, loops, sound, split } from '../../app/text/loop/corpus/index.ts';
import { type Case, casesOf, soundFiles, soundTexts } from '../../app/text/loop/exam/cases.ts';
import { type Example, fitTrees } from '../../app/text/loop/exam/fit.ts';
import { tokens } from '../../app/text/loop/tokens.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sound: { type: 'string', multiple: true, default: [] },
    'sound-tokens': { type: 'string', default: '2000000' },
    texts: { type: 'string', multiple: true, default: [] },
    trees: { type: 'string', default: '120' },
    rate: { type: 'string', default: '0.12' },
    out: {
      type: 'string',
      default: new URL('../../../app/text/loop/score.json', import.meta.url).pathname,
    },
  },
});

/** Rounds used from one text: the first ones of a loop, where it must be found, some of the later ones, and some of sound text. */
const EARLY = 24;
const MOST = 400;
/** The weight of an example that was made to resemble a loop. */
const MADE = 0.3;
/** The weight of these, of which there are few. */
const RUNAWAY = 3;

type Pieces = readonly { readonly id: number; readonly text: string }[];
interface Source {
  readonly pieces: Pieces;
  /** The character at which the loop begins; null if the text is sound. */
  readonly from: number | null;
  readonly weight: number;
}

let names: (keyof Features)[] = [];
const examples: Example[] = [];

function collect({ pieces, from, weight }: Source): void {
  const chains = noChains();
  const cutter = noText();
  const rounds: { values: number[]; positive: boolean }[] = [];
  let characters = 0;
  for (const [at, { text }] of pieces.entries()) {
    characters += text.length;
    for (const sentence of cut(cutter, text, at)) {
      const round = link(chains, sentence);
      if (!round) continue;
      names = Object.keys(round.features) as (keyof Features)[];
      const positive = from !== null && characters > from;
      rounds.push({
        values: names.map((name) => round.features[name]),
        positive,
      });
    }
  }
  const going = rounds.filter(({ positive }) => positive);
  const inside = going.filter((_, at) => at < EARLY || at % Math.ceil(going.length / EARLY) === 0);
  const outside = rounds.filter(({ positive }) => !positive);
  const step = Math.ceil(outside.length / MOST);
  const kept = outside.filter((_, at) => at % step === 0);
  for (const one of inside) examples.push({ ...one, weight: weight / inside.length });
  for (const one of kept)
    examples.push({
      ...one,
      weight: (weight * Math.sqrt(outside.length)) / kept.length / 4,
    });
}

const sourceOf = ({ parts, pieces, loop, group }: Case): Source => ({
  pieces: pieces ?? parts.flatMap(({ text }) => tokens(text, 'words')),
  from: loop && (loop.ends[1] ?? loop.begin),
  weight: group === 'sound, made' ? MADE : group === 'runaways' ? RUNAWAY : 1,
});

const tuning = <Item extends { name: string }>(items: readonly Item[]) =>
  items.filter(({ name }) => split(name) === 'tuning');

for (const one of casesOf(positionals[0] as string, 'tuning')) if (one.group !== 'left') collect(sourceOf(one));
for (const { lead, loop, cycle } of tuning(loops()))
  collect({
    pieces: tokens(lead + loop, 'words'),
    from: lead.length + 2 * cycle,
    weight: 0.5,
  });
for (const { text } of tuning([...sound(), ...installed().found]))
  collect({ pieces: tokens(text, 'words'), from: null, weight: MADE });
for (const one of soundFiles(options.sound, 'tuning', Number(options['sound-tokens']))) collect(sourceOf(one));
for (const file of options.texts) for (const one of soundTexts(file)) collect(sourceOf(one));

const fitted = fitTrees(examples, {
  trees: Number(options.trees),
  rate: Number(options.rate),
  least: 1,
  shrink: 2,
});
const lines = fitted.trees.map((tree) => JSON.stringify(tree)).join(',\n');
writeFileSync(
  options.out,
  `{\n"names": ${JSON.stringify(names)},\n"bias": ${fitted.bias},\n"trees": [\n${lines}\n]\n}\n`,
);
const loopy = examples.filter((one) => one.positive).length;
process.stdout.write(`${loopy} rounds of loops, ${examples.length - loopy} of sound text\n`);
