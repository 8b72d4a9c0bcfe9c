// Fits the weights of app/text/loop/returns.ts: how strongly a paragraph suggests thinking that repeats itself in new words:
//
//   node test/bench/loops/fit-returns.ts EXAM [--texts FILE …]
//
// EXAM is the folder of the examination, of which the tuning half is read; --texts as in fit-loops.ts. Loops are those of the
// examination that are reworded, and test/app/text/loop/corpus/reworded.json; sound texts are also the tuning half of the corpus
// and rethought.json beside it. Prints the weights, and the sum that each text reaches when its topic (for sound texts, a quarter of
// them) was left out: after six copies of a loop, and at most in sound text.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Measured, measure, measures } from '../../../app/text/loop/returns.ts';
import { sound as madeTexts, split } from '../../app/text/loop/corpus/index.ts';
import { casesOf, soundTexts } from '../../app/text/loop/exam/cases.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { texts: { type: 'string', multiple: true, default: [] } },
});

/** The copies within which a loop must be found; the first is not yet a return. */
const COPIES = 8;
const IN_TIME = 6;
/** Subtracted for every paragraph, so that several likely ones do not add up; and the limits of one paragraph. */
const TOLL = 0.5;
const FOR = 2.5;
const AGAINST = -4;
const LEAST = 3;
const STEPS = 150;
const RATE = 3;
const SHRINK = 0.002;
const FOLDS = 4;

interface Text {
  readonly id: string;
  readonly paragraphs: readonly Measured[];
  /** Paragraphs before the loop; null if the text is sound. */
  readonly lead: number | null;
}
type Weights = { readonly of: number[]; readonly bias: number };

function textOf(id: string, text: string, begin: number | null): Text {
  const words = new Set<string>();
  const cut = (part: string) => part.split(/\n\s*\n/).flatMap((paragraph) => measure(words, paragraph.trim()) ?? []);
  const lead = begin === null ? null : cut(text.slice(0, begin));
  return {
    id,
    paragraphs: [...(lead ?? []), ...cut(text.slice(begin ?? 0))],
    lead: lead?.length ?? null,
  };
}

const rethought: { lead: string; steps: string[] }[] = JSON.parse(
  readFileSync(new URL('../../app/text/loop/corpus/rethought.json', import.meta.url), 'utf8'),
);
const own: { lead: string; copies: string[] }[] = JSON.parse(
  readFileSync(new URL('../../app/text/loop/corpus/reworded.json', import.meta.url), 'utf8'),
);
const exam = casesOf(positionals[0] as string, 'tuning').map((one) => ({
  ...one,
  text: one.parts.map(({ text }) => text).join(''),
}));
const loops = [
  ...exam.filter(({ group }) => group === 'reworded').map(({ id, text, loop }) => textOf(id, text, loop?.begin ?? 0)),
  ...own.map(({ lead, copies }, at) => textOf(`own ${at}`, lead + copies.join('\n\n'), lead.length)),
];
const made = [...madeTexts()]
  .filter(({ name }) => split(name) === 'tuning')
  .map(({ name, text }) => textOf(name, text, null));
const progress = rethought.map(({ lead, steps }, at) => textOf(`rethought ${at}`, lead + steps.join('\n\n'), null));
const real = [
  ...exam.filter(({ group }) => group === 'sound, real outputs'),
  ...options.texts.flatMap((file) =>
    [...soundTexts(file)]
      .filter(({ places }) => places.includes('thinking'))
      .map((one) => ({
        ...one,
        text: one.parts.map(({ text }) => text).join(''),
      })),
  ),
].map(({ id, text }) => textOf(id, text, null));

type Row = {
  readonly values: number[];
  readonly loop: boolean;
  readonly weight: number;
};

/** Rows with a total weight of `share`. */
function rowsOf(texts: readonly Text[], share: number): Row[] {
  const paragraphs = texts.flatMap(({ paragraphs, lead }) =>
    lead === null ? paragraphs : paragraphs.slice(lead + 1, lead + COPIES),
  );
  return paragraphs.map((one) => ({
    values: measures.map((name) => one[name]),
    loop: texts[0]?.lead !== null,
    weight: share / paragraphs.length,
  }));
}

/** Logistic regression by gradient descent on standardised values, so that the same rows give the same weights. */
function weightsOf(rows: readonly Row[]): Weights {
  const mean = measures.map((_, at) => rows.reduce((sum, { values }) => sum + (values[at] as number), 0) / rows.length);
  const spread = measures.map(
    (_, at) =>
      Math.sqrt(
        rows.reduce((sum, { values }) => sum + ((values[at] as number) - (mean[at] as number)) ** 2, 0) / rows.length,
      ) || 1,
  );
  const scaled = rows.map(({ values, loop, weight }) => ({
    values: values.map((value, at) => (value - (mean[at] as number)) / (spread[at] as number)),
    loop,
    weight,
  }));
  const of = measures.map(() => 0);
  let bias = 0;
  for (let step = 0; step < STEPS; step++) {
    const slopes = of.map((weight) => SHRINK * weight);
    let lift = 0;
    for (const { values, loop, weight } of scaled) {
      const odds = values.reduce((sum, value, at) => sum + value * (of[at] as number), bias);
      const error = weight * (1 / (1 + Math.exp(-odds)) - Number(loop));
      lift += error;
      for (const [at, value] of values.entries()) slopes[at] = (slopes[at] as number) + error * value;
    }
    bias -= RATE * lift;
    for (const [at, slope] of slopes.entries()) of[at] = (of[at] as number) - RATE * slope;
  }
  const plain = of.map((weight, at) => weight / (spread[at] as number));
  return {
    of: plain,
    bias: bias - plain.reduce((sum, weight, at) => sum + weight * (mean[at] as number), 0),
  };
}

function most({ paragraphs, lead }: Text, { of, bias }: Weights): number {
  let evidence = 0;
  let count = 0;
  let best = 0;
  for (const one of paragraphs.slice(0, lead === null ? undefined : lead + IN_TIME)) {
    const odds = measures.reduce((sum, name, at) => sum + (of[at] as number) * one[name], bias);
    evidence = Math.max(0, evidence + Math.max(AGAINST, Math.min(FOR, odds)) - TOLL);
    count = evidence > 0 ? count + 1 : 0;
    if (count >= LEAST) best = Math.max(best, evidence);
  }
  return best;
}

/** Half of the weight is on loops. Thinking that doubts in every paragraph and still gets on has little: more of it makes the
 *  texts of others harder to tell apart. */
const fitWithout = (left: (text: Text) => boolean) => {
  const kept = (texts: readonly Text[]) => texts.filter((text) => !left(text));
  return weightsOf([
    ...rowsOf(kept(loops), 0.5),
    ...rowsOf(kept(real), 0.36),
    ...rowsOf(kept(made), 0.12),
    ...rowsOf(kept(progress), 0.02),
  ]);
};

const fitted = fitWithout(() => false);
const round = (value: number) => Math.round(value * 100) / 100;
const weights = Object.fromEntries(measures.map((name, at) => [name, round(fitted.of[at] as number)]));
process.stdout.write(`${JSON.stringify(weights)}, bias with toll ${round(fitted.bias - TOLL)}\n`);
for (const one of [...loops, ...progress]) {
  const reached = most(
    one,
    fitWithout((text) => text === one),
  );
  process.stdout.write(`${one.lead === null ? 'sound' : 'loop'} ${one.id}: ${reached.toFixed(1)}\n`);
}
const rest = [...real, ...made];
for (let fold = 0; fold < FOLDS; fold++) {
  const part = new Set(rest.filter((_, at) => at % FOLDS === fold));
  const others = fitWithout((text) => part.has(text));
  for (const one of part) {
    const reached = most(one, others);
    if (reached > 3) process.stdout.write(`sound ${one.id}: ${reached.toFixed(1)}\n`);
  }
}
