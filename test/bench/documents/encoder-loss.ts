// What the built-in encoder loses by its 8 bits: node test/bench/documents/encoder-loss.ts FILE [--most N]
// FILE: passages with questions, one passage per line, as in SQuAD. Every passage is embedded as a whole, with the encoder as
// published (fp32) and with resources/encoder; a question finds its passage if that is among the first of all passages.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createEngine } from '../../../app/engine/client/engine-client.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import { interval } from '../../support/documents/exam-sets.ts';
import { realModel } from '../../support/models/real-models.mjs';
import { readOptions } from '../options.mjs';

const { values, positionals } = readOptions(import.meta.filename, {
  allowPositionals: true,
  options: { most: { type: 'string', default: '600' } },
});
const [file] = positionals;
if (file === undefined) throw new Error('[encoder-loss] no file named; --help says how');
const root = resolve(import.meta.dirname, '../../..');
const AT_ONCE = 32;
const PLACES = [1, 5, 10];

type Line = { passage: string; questions: { q: string; answers: unknown[] }[] };
const all = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);
const step = Math.max(1, all.length / Number(values.most));
const lines = all.filter((_, at) => Math.floor(at % step) === 0);
const asked = lines.flatMap(({ questions }, line) => {
  const [first] = questions.filter(({ answers }) => answers.length > 0);
  return first ? [{ text: first.q, line }] : [];
});

const engine = createEngine({
  startEngine: engineByFork(join(root, 'app/engine/process/main.ts'), {
    worker: join(root, 'app/text/jinja/template-process.ts'),
    pictureWorker: join(root, 'app/pictures/picture-process.ts'),
    addon: join(root, 'build/native/Release/longhand.node'),
  }),
  onStatus: () => {},
});

async function vectorsOf(path: string, texts: readonly string[], kind: 'query' | 'passage'): Promise<Float32Array[]> {
  const made: Float32Array[] = [];
  while (made.length < texts.length) {
    const target = { path, device: null, threads: null };
    const wanted = texts.slice(made.length, made.length + AT_ONCE);
    made.push(...(await engine.ask('embed', { target, texts: wanted, kind, urgent: true })).vectors);
  }
  return made;
}

const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

async function placesOf(path: string) {
  const passages = await vectorsOf(
    path,
    lines.map(({ passage }) => passage),
    'passage',
  );
  const questions = await vectorsOf(
    path,
    asked.map(({ text }) => text),
    'query',
  );
  const places = questions.map((question, at) => {
    const own = cosine(question, passages[asked[at]?.line ?? 0] ?? question);
    return 1 + passages.filter((passage) => cosine(question, passage) > own).length;
  });
  return { passages, places };
}

const published = await placesOf(await realModel('minilm'));
const built = await placesOf(join(root, 'resources/encoder'));
await engine.close();
const equal = published.passages.map((vector, at) => cosine(vector, built.passages[at] ?? vector));
console.log(`${lines.length} passages, ${asked.length} questions; least cosine ${Math.min(...equal).toFixed(5)}`);
for (const most of PLACES) {
  const shares = [published, built].map(({ places }) => {
    const found = places.filter((place) => place <= most).length;
    const [low, high] = interval(found, places.length);
    return `${(found / places.length).toFixed(4)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  });
  const moved = published.places.filter((place, at) => place <= most !== (built.places[at] ?? 0) <= most).length;
  console.log(`among the first ${most}: published ${shares[0]}, built in ${shares[1]}; ${moved} questions differ`);
}
process.exit(0);
