// The benchmark's peer: llama.cpp through node-llama-cpp, in a process of its own.
//   node llama.mjs MODULE MODEL.gguf READ WRITE THREADS cpu|vulkan|metal      prints one line of JSON
// A short warm-up run is not counted. Wall time; the prompt is timed until the first token, as in our own figures.
import { readFileSync } from 'node:fs';
import { answerOf, promptOf, warmOf } from '../prompt.mjs';

const [modulePath, modelPath, read, write, threads, device] = process.argv.slice(2);
const job = { read: Number(read), write: Number(write) };
const { getLlama } = await import(modulePath);

const llama = await getLlama({
  gpu: device === 'cpu' ? false : device,
  build: 'never',
  logLevel: 'error',
  maxThreads: Number(threads),
});
const began = performance.now();
const model = await llama.loadModel({ modelPath, useMmap: true });
const loadMs = performance.now() - began;
const contextSize = job.read + job.write + 64;
const context = await model.createContext({ contextSize, threads: Number(threads), batchSize: 512 });

async function once({ read: length, write: tokens }) {
  const sequence = context.getSequence();
  const start = performance.now();
  let first = 0;
  let count = 0;
  for await (const _ of sequence.evaluate([...promptOf(length)], { temperature: 0, yieldEogToken: true })) {
    if (count++ === 0) first = performance.now();
    if (count > tokens) break;
  }
  const ended = performance.now();
  await sequence.clearHistory();
  sequence.dispose();
  return answerOf({ read: length }, first - start, ended - first, count - 1);
}

await once(warmOf(job));
const figures = await once(job);
const memory = process.platform === 'linux' ? /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) : null;
console.log(JSON.stringify({ ...figures, loadMs, memory: memory ? Number(memory[1]) * 1024 : null }));
process.exit(0);
