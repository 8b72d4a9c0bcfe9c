// The peer of the benchmark: llama.cpp through node-llama-cpp, in a process of its own.
//   node llama.mjs MODULE MODEL.gguf READ WRITE THREADS cpu|vulkan      prints {prefill, decode} in tokens a second
// The first run warms up and does not count. Wall time, as for our own figures.
const [modulePath, modelPath, read, write, threads, device] = process.argv.slice(2);
const { getLlama } = await import(modulePath);

const llama = await getLlama({
  gpu: device === 'vulkan' ? 'vulkan' : false,
  build: 'never',
  logLevel: 'error',
  maxThreads: Number(threads),
});
const model = await llama.loadModel({ modelPath, useMmap: true });
const contextSize = Number(read) + Number(write) + 64;
const context = await model.createContext({ contextSize, threads: Number(threads), batchSize: 512 });
const prompt = Array.from({ length: Number(read) }, (_, i) => 5 + ((i * 37) % 1000));

async function once() {
  const sequence = context.getSequence();
  const began = performance.now();
  let first = 0;
  let count = 0;
  for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    if (count++ === 0) first = performance.now();
    if (count > Number(write)) break;
  }
  const ended = performance.now();
  await sequence.clearHistory();
  sequence.dispose();
  return {
    prefill: (Number(read) * 1000) / (first - began),
    decode: (Number(write) * 1000) / (ended - first),
  };
}

await once();
console.log(JSON.stringify(await once()));
process.exit(0);
