// How far the fast path and llama.cpp are from the exact path on the same file and text:
//   node test/bench/precision.mjs MODEL.gguf TEXT [--tokens 512] [--threads 2] [--no-peer]
// The divergence is taken over the tokens that llama.cpp names, a handful a position: node-llama-cpp tells no others.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { modelTextFromGguf } from '../../app/text/model-text.ts';
import { peerModule } from './llama/measure.mjs';
import { readOptions } from './options.mjs';

const { values, positionals } = readOptions(import.meta.filename, {
  allowPositionals: true,
  options: {
    tokens: { type: 'string', default: '512' },
    threads: { type: 'string', default: '2' },
    'no-peer': { type: 'boolean', default: false },
  },
});
const [file, source] = positionals;
const [most, threads] = [Number(values.tokens), Number(values.threads)];
if (!source || !(most > 0) || !(threads > 0)) {
  console.error('[precision] a model, a text and numbers from 1 are needed; --help says more');
  process.exit(2);
}

const addon = createRequire(import.meta.url)(join(import.meta.dirname, '../../build/native/Release/longhand.node'));
const text = modelTextFromGguf(await addon.ggufMetadata(file));
const ids = text.tokenizer.encodeText(readFileSync(source, 'utf8'), true).slice(0, most);

function softmax(row) {
  const peak = row.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = Float64Array.from(row, (x) => Math.exp(x - peak));
  const total = weights.reduce((sum, x) => sum + x, 0);
  return weights.map((x) => x / total);
}

/** Probabilities of every position by our engine. */
async function ours(model, path) {
  const { data, rows, columns } = await model.createSession({ path }).logits(Int32Array.from(ids), { all: true, path });
  return Array.from({ length: rows }, (_, row) => softmax(data.subarray(row * columns, (row + 1) * columns)));
}

/** Of every position a map from tokens to probabilities, by llama.cpp. */
async function theirs(module) {
  const { getLlama } = await import(module);
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: threads });
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ contextSize: ids.length + 64, threads, batchSize: 512 });
  const asked = ids.map((id) => [id, { generateNext: { probabilities: true, options: { temperature: 1 } } }]);
  const answers = await context.getSequence().controlledEvaluate(asked);
  return answers.map(({ next }) => next.probabilities);
}

const favourite = (row) => row.reduce((best, x, i) => (x > row[best] ? i : best), 0);

/** Over `tokens` only, both made to add up to one there. */
function divergence(p, q, tokens) {
  const total = (of) => tokens.reduce((sum, token) => sum + of(token), 0);
  const [all, other] = [total(p), total(q)];
  return tokens.reduce((sum, token) => {
    const x = p(token) / all;
    return x > 0 ? sum + x * Math.log(x / (q(token) / other)) : sum;
  }, 0);
}

function told(name, exact, probability, best, support) {
  const mean = exact.reduce((sum, p, row) => sum + divergence((t) => p[t], probability(row), support(row)), 0);
  const same = exact.filter((p, row) => favourite(p) === best(row)).length;
  const share = ((100 * same) / exact.length).toFixed(2);
  console.log(`${name}: KLD ${(mean / exact.length).toExponential(2)}, same favourite ${share} %`);
}

const model = await addon.load(file, { device: 'cpu', threads });
const [exact, fast] = [await ours(model, 'exact'), await ours(model, 'fast')];
const every = Array.from(exact[0].keys());
console.log(`${exact.length} positions, ${model.device.detail}`);
told(
  'fast path, all tokens',
  exact,
  (row) => (t) => fast[row][t],
  (row) => favourite(fast[row]),
  () => every,
);
const module = values['no-peer'] ? null : peerModule();
if (module) {
  const peer = await theirs(module);
  const support = (row) => [...peer[row].keys()];
  told(
    'fast path, tokens that llama.cpp names',
    exact,
    (row) => (t) => fast[row][t],
    (row) => favourite(fast[row]),
    support,
  );
  const best = (row) => support(row).reduce((a, b) => (peer[row].get(b) > peer[row].get(a) ? b : a));
  told('llama.cpp, the same tokens', exact, (row) => (t) => peer[row].get(t), best, support);
}
process.exit(0);
