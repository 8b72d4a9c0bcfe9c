// Fits the weights of app/documents/search/ranking-features.ts on the tuning set: node test/bench/documents/calibrate.ts [--no-reader] [--vectors FILE] [--with FILE …]
// BY_READING, or with --no-reader BY_MEANING, which also selects what the reader reads.
// Each document is left out once (in eight groups) to measure the weights on unseen documents. Every answerable question is also
// used as an unanswerable one, in a library without the sentence that answers it.
// --vectors FILE caches the vectors of all texts for the next run. --with FILE adds the questions of an examination (exam.ts --out).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { Scored } from '../../../app/documents/answer/scored-statement.ts';
import { statementsOf } from '../../../app/documents/chunk/sentence-splitter.ts';
import { certainty, chances } from '../../../app/documents/search/ranking-features.ts';
import { type Example, fitWeights, type Model } from '../../app/documents/evaluation/fit.ts';
import { tuning } from '../../app/documents/evaluation/set.ts';
import { readOptions } from '../options.mjs';
import { openAsker } from './asking.ts';

const { values } = readOptions(import.meta.filename, {
  options: {
    vectors: { type: 'string' },
    with: { type: 'string', multiple: true, default: [] },
    reader: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
/** The weight of a question: unanswerable, with its answer cut out, answerable. */
const WEIGHT = values.reader ? { none: 0.5, cut: 0.25, answered: 1 } : { none: 1, cut: 0.5, answered: 1 };
/** The reader's score covers much of the other features, which are therefore regularised more strongly. */
const SHRINK = values.reader ? 0.02 : 0.005;
const CUTS = 6;
const GROUPS = 8;

type Kind = 'none' | 'cut' | 'answered';
type Asked = { kind: Kind; gold: string | null; group: number; statements: Scored[] };

const known: Map<string, Float32Array> =
  values.vectors !== undefined && existsSync(values.vectors)
    ? deserialize(readFileSync(values.vectors))
    : new Map<string, Float32Array>();
const asker = await openAsker(values.reader, known);

const flat = (text: string) => text.toLowerCase().replace(/\s+/g, ' ');
const says = ({ passage, statement }: Scored, gold: string | null): boolean =>
  gold !== null && flat(passage.text.slice(...statement)).includes(flat(gold));
const titles = Object.keys(tuning.library).sort();
const groupOf = (document: string | undefined) => Math.max(0, titles.indexOf(document ?? '')) % GROUPS;

type Question = { question: string; kind: Kind; gold: string | null; document: string | null };

async function ask(library: Record<string, string>, questions: readonly Question[]): Promise<Asked[]> {
  const texts = questions.map(({ question }) => question);
  const all = await asker.ask(library, texts);
  return questions.map(({ kind, gold, document }, at) => {
    const statements = all[at] ?? [];
    // A question that no document answers is grouped with the nearest document.
    const nearest = statements.toSorted((a, b) => b.score - a.score);
    const own = document ?? nearest.find(({ passage }) => passage.fileName in tuning.library)?.passage.fileName;
    // With the reader: the ones it read, whose score is one more feature.
    const most = Math.max(...statements.map(({ features }) => features.length));
    const judged = statements.filter(({ features }) => features.length === most);
    return { kind, gold, group: groupOf(own), statements: judged };
  });
}

/** A document without the sentences that contain these words. */
function without(text: string, gold: string): string {
  const at = text.toLowerCase().indexOf(gold.toLowerCase());
  return statementsOf(text)
    .filter(([start, end]) => at < end && at + gold.length > start)
    .reduceRight((rest, [start, end]) => rest.slice(0, start) + rest.slice(end), text);
}

const { library, answerable, unanswerable } = tuning;
const all = await ask(library, [
  ...answerable.map(({ question, gold, document }) => ({ question, gold, document, kind: 'answered' as const })),
  ...unanswerable.map(({ question }) => ({ question, gold: null, document: null, kind: 'none' as const })),
]);
for (let fold = 0; fold < CUTS; fold++) {
  const mine = answerable.filter((_, at) => at % CUTS === fold);
  const cut = { ...library };
  for (const { document, gold } of mine) cut[document] = without(cut[document] ?? '', gold);
  const asked = mine.map(({ question, document }) => ({ question, document, gold: null, kind: 'cut' as const }));
  all.push(...(await ask(cut, asked)));
}
await asker.close();
if (values.vectors !== undefined) writeFileSync(values.vectors, serialize(known));

const exampleOf = ({ kind, gold, statements }: Asked): Example => ({
  features: statements.map(({ features }) => features),
  says: statements.flatMap((one, at) => (says(one, gold) ? [at] : [])),
  weight: WEIGHT[kind],
});
/** Statements that were not found say nothing about those that were. */
const teaches = (one: Asked) =>
  one.kind !== 'answered' || one.statements.some((statement) => says(statement, one.gold));
/** The questions of the examinations, which are part of every fit. */
const examined = values.with.flatMap(examplesIn);
const modelOf = (asked: readonly Asked[]): Model =>
  fitWeights([...asked.filter(teaches).map(exampleOf), ...examined], SHRINK);

type Examined = { answerable: boolean; statements: { features: number[]; says: boolean }[] };

function examplesIn(file: string): Example[] {
  const questions = JSON.parse(readFileSync(file, 'utf8')) as Examined[];
  return questions.flatMap(({ answerable, statements }) => {
    const most = Math.max(...statements.map(({ features }) => features.length));
    const judged = statements.filter(({ features }) => features.length === most);
    const says = judged.flatMap((one, at) => (one.says ? [at] : []));
    if (judged.length === 0 || (answerable && says.length === 0)) return [];
    return [
      { features: judged.map(({ features }) => features), says, weight: answerable ? WEIGHT.answered : WEIGHT.none },
    ];
  });
}

/** The probability of the likeliest passage, and whether it contains the fact. */
function judged({ gold, statements }: Asked, { bias, factors }: Model): { chance: number; right: boolean } {
  const scores = statements.map(({ features }) =>
    features.reduce((sum, one, at) => sum + one * (factors[at] ?? 0), bias),
  );
  const shares = chances(scores);
  const byPassage = Map.groupBy(statements.keys(), (at) => statements[at]?.passage.number);
  const sums = [...byPassage.values()].map((own) => ({
    chance: own.reduce((sum, at) => sum + (shares[at] ?? 0), 0),
    text: statements[own[0] ?? 0]?.passage.text ?? '',
  }));
  const [best] = sums.sort((a, b) => b.chance - a.chance);
  const any = shares.reduce((sum, share) => sum + share, 0);
  const chance = best?.chance ?? 0;
  return {
    chance: values.reader ? certainty(chance, any) : chance,
    right: gold !== null && flat(best?.text ?? '').includes(flat(gold)),
  };
}

const crossed = Array.from({ length: GROUPS }, (_, group) => {
  const model = modelOf(all.filter((one) => one.group !== group));
  return all.filter((one) => one.group === group).map((one) => ({ kind: one.kind, ...judged(one, model) }));
}).flat();
const can = crossed.filter(({ kind }) => kind === 'answered');
const refusedBelow = (kind: Kind, least: number) => {
  const own = crossed.filter((one) => one.kind === kind);
  return (own.filter(({ chance }) => chance < least).length / own.length).toFixed(3);
};
process.stdout.write('answered  right  refused  cut ones refused  threshold\n');
const sorted = can.map(({ chance }) => chance).sort((a, b) => b - a);
for (const coverage of [0.5, 0.55, 0.6, 0.62, 0.64, 0.66, 0.68, 0.7, 0.72, 0.74, 0.76, 0.8, 0.85, 0.9]) {
  const least = sorted[Math.ceil(coverage * sorted.length) - 1] ?? 0;
  const accepted = can.filter(({ chance }) => chance >= least);
  const right = (accepted.filter((one) => one.right).length / accepted.length).toFixed(3);
  process.stdout.write(
    `${coverage.toFixed(2)}      ${right}  ${refusedBelow('none', least)}    ${refusedBelow('cut', least)}             ${least.toFixed(3)}\n`,
  );
}
const { bias, factors } = modelOf(all);
const short = (value: number) => Number(value.toFixed(2));
process.stdout.write(`bias: ${short(bias)}, factors: [${factors.map(short).join(', ')}]\n`);
process.exit(0);
