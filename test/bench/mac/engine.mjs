// One model on the GPU, in a process of its own: node engine.mjs PATH READ,READ,... WRITE      prints one line of JSON
// On Linux the stand-in replaces the GPU, for the tests of this script.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [path, reads, write] = process.argv.slice(2);
const onMac = process.platform === 'darwin';
const file = join(
  import.meta.dirname,
  '../../../build/native/Release',
  onMac ? 'longhand.node' : 'longhand-metal.node',
);
const addon = createRequire(import.meta.url)(file);

const began = performance.now();
const model = await addon.load(path, { device: 'metal', standin: !onMac });
const loadMs = performance.now() - began;
const lengths = reads.split(',').map(Number);
const session = model.createSession({ contextLength: Math.max(...lengths) + Number(write) + 64, path: 'fast' });
const answers = [];
for (const length of lengths) {
  const prompt = Int32Array.from({ length }, (_, i) => (i * 7919 + 17) % model.vocabularySize);
  await session.reset();
  const { timings } = await session.generate(prompt, { maxTokens: Number(write), temperature: 0, path: 'fast' });
  answers.push({ read: length, firstTokenMs: timings.firstTokenMs, decodeMs: timings.decodeMs });
}
const { name, detail, tuning } = model.device;
session.close();
model.close();
console.log(
  JSON.stringify({
    device: { name, detail, tuning },
    loadMs,
    answers,
    residentMB: Math.round(process.memoryUsage().rss / 2 ** 20),
  }),
);
