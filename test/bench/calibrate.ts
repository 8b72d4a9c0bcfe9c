// Fits the weights of app/documents/evidence.ts on the tuning set: node test/bench/calibrate.ts [--vectors FILE]
// Each document is left out once (eight groups) to see what the weights are worth on documents that they do not know. Every
// answerable question also counts as one without an answer, in a library from which the sentence that answers it was cut.
// FILE keeps the vectors of all texts for the next run.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import type { Scored } from '../../app/documents/answering.ts';
import { chances } from '../../app/documents/evidence.ts';
import { createDocuments } from '../../app/documents/service.ts';
import { statementsOf } from '../../app/documents/statements.ts';
import { createEngine, type Engine } from '../../app/engine/client.ts';
import { engineByFork } from '../../app/engine/start.ts';
import type { ModelId } from '../../app/protocol/index.ts';
import { openStore } from '../../app/store/store.ts';
import { type Example, fitWeights, type Model } from '../app/documents/evaluation/fit.ts';
import { manuals, tuning } from '../app/documents/evaluation/set.ts';
import { realModel } from '../support/real-models.mjs';

const { values } = parseArgs({ options: { vectors: { type: 'string' } } });
const root = resolve(import.meta.dirname, '../..');
/** How much a question weighs: one without an answer, one whose answer was cut out, one with. */
const WEIGHT = { none: 1, cut: 0.5, answered: 1 };
const CUTS = 6;
const GROUPS = 8;

type Kind = keyof typeof WEIGHT;
type Asked = { kind: Kind; gold: string | null; group: number; statements: Scored[] };

const path = await realModel('minilm');
const known: Map<string, Float32Array> =
  values.vectors !== undefined && existsSync(values.vectors)
    ? deserialize(readFileSync(values.vectors))
    : new Map<string, Float32Array>();

/** Seven libraries have most of their texts in common: each text is read once. */
function remembering(engine: Engine): Engine {
  const ask: Engine['ask'] = async (name, input) => {
    if (name !== 'embed') return engine.ask(name, input);
    const { texts, kind } = input as { texts: string[]; kind: string };
    const keyOf = (text: string) => `${kind} ${text}`;
    const missing = [...new Set(texts)].filter((text) => !known.has(keyOf(text)));
    for (let at = 0; at < missing.length; at += 32) {
      const part = missing.slice(at, at + 32);
      const { vectors } = (await engine.ask('embed', { ...(input as object), texts: part } as never)) as {
        vectors: Float32Array[];
      };
      for (const [place, vector] of vectors.entries()) known.set(keyOf(part[place] ?? ''), vector);
    }
    return { vectors: texts.map((text) => known.get(keyOf(text))) } as never;
  };
  return { ...engine, ask };
}
const real = createEngine({
  startEngine: engineByFork(join(root, 'app/engine/process.ts'), {
    worker: join(root, 'app/text/template-worker.ts'),
    addon: join(root, 'build/native/Release/longhand.node'),
  }),
  onStatus: () => {},
});
const engine = remembering(real);

const flat = (text: string) => text.toLowerCase().replace(/\s+/g, ' ');
const says = ({ passage, statement }: Scored, gold: string | null): boolean =>
  gold !== null && flat(passage.text.slice(...statement)).includes(flat(gold));
const titles = Object.keys(tuning.library).sort();
const groupOf = (document: string | undefined) => Math.max(0, titles.indexOf(document ?? '')) % GROUPS;

type Question = { question: string; kind: Kind; gold: string | null; document: string | null };

async function ask(library: Record<string, string>, questions: readonly Question[]): Promise<Asked[]> {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-calibrate-'));
  const store = await openStore({ folder, migrations: join(root, 'app/store/migrations') });
  const documents = createDocuments({
    db: store.db,
    engine,
    encoders: {
      find: () => ({ target: { path, device: null, threads: null }, name: 'all-MiniLM-L6-v2' }),
      list: () => ['minilm' as ModelId],
      ranker: () => null,
    },
    emit: () => {},
    dataFolder: folder,
    worker: join(root, 'app/documents/worker.ts'),
    help: null,
    now: Date.now,
  });
  const { id } = await documents.handlers['documents.createCollection']({ name: 'Library' });
  const files = Object.entries({ ...library, ...manuals }).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return { path: join(folder, name), name };
  });
  await documents.handlers['documents.add']({ collectionId: id, files });
  await documents.idle();
  const asked: Asked[] = [];
  for (const { question, kind, gold, document } of questions) {
    const { statements } = await documents.answering.examine(question, [id]);
    // A question that no document answers goes with the one that it comes nearest to.
    const nearest = statements.toSorted((a, b) => b.score - a.score);
    const own = document ?? nearest.find(({ passage }) => passage.fileName in tuning.library)?.passage.fileName;
    asked.push({ kind, gold, group: groupOf(own), statements });
  }
  await documents.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
  return asked;
}

/** A document without the sentences that hold these words. */
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
await real.close();
if (values.vectors !== undefined) writeFileSync(values.vectors, serialize(known));

const exampleOf = ({ kind, gold, statements }: Asked): Example => ({
  features: statements.map(({ features }) => features),
  says: statements.flatMap((one, at) => (says(one, gold) ? [at] : [])),
  weight: WEIGHT[kind],
});
/** What was not found teaches nothing about what was. */
const teaches = (one: Asked) =>
  one.kind !== 'answered' || one.statements.some((statement) => says(statement, one.gold));
const modelOf = (asked: readonly Asked[]): Model => fitWeights(asked.filter(teaches).map(exampleOf));

/** The chance of the likeliest passage, and whether it holds the fact. */
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
  return { chance: best?.chance ?? 0, right: gold !== null && flat(best?.text ?? '').includes(flat(gold)) };
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
