// Fits BY_WORDS of app/documents/search/ranking-features.ts: node test/bench/documents/fit-words.ts FILE …
// Each FILE is the output of test/bench/documents/exam.ts --out for one examination by keywords alone. Every answerable question is
// also used as an unanswerable one, without the passages that answer it. Passages are left out in groups, to measure the weights
// on unseen ones.
import { readFileSync } from 'node:fs';
import { type Example, fitWeights, type Model } from '../../app/documents/evaluation/fit.ts';
import { readOptions } from '../options.mjs';

const { values, positionals } = readOptions(import.meta.filename, {
  allowPositionals: true,
  options: {
    shrink: { type: 'string', default: '0.003' },
    cut: { type: 'string', default: '0.4' },
  },
});

type Statement = { passage: number; features: number[]; score: number; says: boolean; holds: boolean };
type Asked = { id: string; set: string; answerable: boolean; statements: Statement[]; cut: boolean };
type Judged = { answerable: boolean; score: number; right: boolean; says: boolean; cut: boolean };

const GROUPS = 4;
/** Selected with the old weights: the rest do not affect any probability, but would take most of the time to fit. */
const MOST = 40;
const groupOf = (id: string): number => {
  const name = id.replace(/:\d+$/, '');
  return [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7) % GROUPS;
};

const sets = positionals.map((file) => ({ file, asked: read(file) }));
const most = Math.max(...sets.map(({ asked }) => asked.length));

function likeliest(statements: readonly Statement[]): Statement[] {
  return statements.toSorted((a, b) => b.score - a.score).slice(0, MOST);
}

function read(file: string): Asked[] {
  const all = JSON.parse(readFileSync(file, 'utf8')) as Omit<Asked, 'cut' | 'set'>[];
  const made = all.map((one) => ({ ...one, statements: likeliest(one.statements) }));
  return made.flatMap((one) => {
    const whole = { ...one, set: file, cut: false };
    if (!one.answerable) return [whole];
    const left = one.statements.filter(({ holds }) => !holds);
    return [whole, { ...whole, answerable: false, cut: true, statements: left }];
  });
}

/** Up to a limit, the sets have equal weight, however many questions they have. */
const weightOf = ({ set, cut }: Asked): number => {
  const size = sets.find(({ file }) => file === set)?.asked.length ?? 1;
  return (cut ? Number(values.cut) : 1) * Math.sqrt(most / size);
};

const exampleOf = (one: Asked): Example => ({
  features: one.statements.map(({ features }) => features),
  says: one.answerable ? one.statements.flatMap(({ says }, at) => (says ? [at] : [])) : [],
  weight: weightOf(one),
});

const usable = (one: Asked): boolean =>
  one.statements.length > 0 && (!one.answerable || one.statements.some(({ says }) => says));

const modelOf = (asked: readonly Asked[]): Model =>
  fitWeights(asked.filter(usable).map(exampleOf), Number(values.shrink));

function judge({ bias, factors }: Model, { answerable, statements, cut }: Asked): Judged {
  const scores = statements.map(({ features }) =>
    features.reduce((sum, one, at) => sum + one * (factors[at] ?? 0), bias),
  );
  const best = scores.indexOf(Math.max(...scores));
  const top = statements[best];
  return {
    answerable,
    cut,
    score: scores[best] ?? Number.NEGATIVE_INFINITY,
    right: answerable && (top?.holds ?? false),
    says: answerable && (top?.says ?? false),
  };
}

function report(name: string, judged: readonly Judged[], threshold: number) {
  const can = judged.filter(({ answerable }) => answerable);
  const cannot = judged.filter(({ answerable, cut }) => !answerable && !cut);
  const cut = judged.filter((one) => one.cut);
  const answered = can.filter(({ score }) => score >= threshold);
  const share = (some: number, of: number) => (of === 0 ? '-' : (some / of).toFixed(3));
  const refused = (all: readonly Judged[]) => share(all.filter(({ score }) => score < threshold).length, all.length);
  console.log(
    [
      name.replace(/.*\//, '').padEnd(14),
      threshold.toFixed(2),
      `answered ${share(answered.length, can.length)}`,
      `right ${share(answered.filter(({ right }) => right).length, answered.length)}`,
      `quote ${share(answered.filter(({ says }) => says).length, answered.length)}`,
      `refused ${refused(cannot)}, cut ${refused(cut)}`,
    ].join('  '),
  );
}

const THRESHOLDS = [-1, -0.7, -0.45, -0.2, 0];
const all = sets.flatMap(({ asked }) => asked);
const grouped = Array.from({ length: GROUPS }, (_, group) => {
  const model = modelOf(all.filter(({ id }) => groupOf(id) !== group));
  return all.filter(({ id }) => groupOf(id) === group).map((one) => ({ one, judged: judge(model, one) }));
}).flat();
for (const { file } of sets) {
  const judged = grouped.filter(({ one }) => one.set === file).map((one) => one.judged);
  for (const threshold of THRESHOLDS) report(`${file} groups`, judged, threshold);
}
const fitted = modelOf(all);
console.log(
  `bias: ${fitted.bias.toFixed(2)}, factors: [${fitted.factors.map((one) => Number(one.toFixed(2))).join(', ')}]`,
);
