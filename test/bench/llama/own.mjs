// Our side of the benchmark, in a process of its own: one model, one prompt, one answer.
//   node own.mjs MODEL READ WRITE THREADS DEVICE      prints one line of JSON
// A short warm-up run is not counted. Wall time; the prompt is timed until the first token, as for the peer.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { answerOf, promptOf, warmOf } from '../prompt.mjs';

const root = join(import.meta.dirname, '../../..');
const [path, read, write, threads, device] = process.argv.slice(2);
const job = { read: Number(read), write: Number(write) };
const addon = createRequire(import.meta.url)(join(root, 'build/native/Release/longhand.node'));

const began = performance.now();
const model = await addon.load(path, { device, threads: Number(threads) });
const loadMs = performance.now() - began;

async function once({ read: length, write: maxTokens }) {
  const session = model.createSession({ contextLength: job.read + job.write + 64, path: 'fast' });
  const prompt = promptOf(length);
  const result = await session.generate(prompt, { maxTokens, temperature: 0, path: 'fast' });
  session.close();
  return result;
}

/** The multiplications of one token in the layers and in the head, and the weight bytes that a decoded token reads. */
async function work() {
  const { tensors, activeBytes } = await addon.inspect(path);
  const isHead = ({ name }) => /^(output|lm_head)\.weight$/.test(name);
  const isTable = ({ name }) => /(token_embd|embed_tokens)\.weight$/.test(name);
  const elements = ({ shape }) => shape.reduce((product, size) => product * size, 1);
  const matrices = tensors.filter(({ shape }) => shape.length === 2);
  const head = matrices.find(isHead) ?? matrices.find(isTable);
  const layers = matrices.filter((tensor) => !isHead(tensor) && !isTable(tensor));
  return {
    layers: layers.reduce((sum, tensor) => sum + elements(tensor), 0),
    head: head ? elements(head) : 0,
    bytes: activeBytes,
  };
}

/** Peak memory of this process, file pages included. */
function peakMemory() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

await once(warmOf(job));
const result = await once(job);
console.log(
  JSON.stringify({
    ...answerOf(job, result.timings.firstTokenMs, result.timings.decodeMs, result.tokens.length - 1),
    loadMs,
    memory: peakMemory(),
    instructions: model.device.detail.split(',')[0],
    work: await work(),
  }),
);
process.exit(0);
