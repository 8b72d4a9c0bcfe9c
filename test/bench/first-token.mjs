// The cost of a first token: for an unknown prompt, for one cached in memory, and for one cached on disk after a restart, each
// followed by 50 new tokens; and the time to restore a snapshot.
//   node test/bench/first-token.mjs [SHAPE or FILE ...] [--context 12288] [--threads 2] [--encrypted]   for example "Qwen3.5-0.8B Q4_0"
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { promptOf } from './prompt.mjs';
import { writeSynthetic } from './shapes/synthetic.mjs';

const addon = createRequire(import.meta.url)(join(import.meta.dirname, '../../build/native/Release/longhand.node'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    context: { type: 'string', default: '12288' },
    threads: { type: 'string', default: '2' },
    encrypted: { type: 'boolean', default: false },
  },
});
const shapes = positionals.length > 0 ? positionals : ['Qwen3.5-0.8B Q4_0', 'Qwen3-0.6B Q4_0'];
const length = Number(values.context);
const GB = 2 ** 30;
const ROUNDS = 5;
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const ms = (number) => (number < 10 ? number.toFixed(1) : number.toFixed(0));

// A chat in messages, as the app asks them: an id that is in no message ends each, another opens the answer.
const END = 4;
const OPENING = 3;
const MESSAGE = 512;
const chatOf = (length) => promptOf(length).map((id, at) => ((at + 1) % MESSAGE === 0 || at === length - 1 ? END : id));

/** Measured in a session that has read nothing itself. */
async function ask(model, prompt, options = {}) {
  const session = model.createSession({ contextLength: length + 128 });
  const { timings } = await session.generate(prompt, {
    maxTokens: 1,
    temperature: 0,
    stopTokens: [END],
    ...options,
  });
  session.close();
  return timings;
}

async function goingBack(model, prompt) {
  const session = model.createSession({ contextLength: length + 128 });
  await session.generate(prompt, { maxTokens: 1 });
  const at = await session.snapshot();
  const took = [];
  for (let round = 0; round < ROUNDS; round++) {
    const asked = Int32Array.from([...session.tokens(), 7]);
    await session.generate(asked, { maxTokens: 1, continues: 2, cachePrompt: false });
    const began = performance.now();
    await session.rewind(at);
    await session.snapshot();
    took.push(performance.now() - began);
  }
  session.close();
  return median(took);
}

const folder = mkdtempSync(join(tmpdir(), 'longhand-first-token-'));
console.log(`First token after ${length} tokens, ms (${values.threads} threads, medians of ${ROUNDS}; cold once)\n`);
console.log('| model | cold | known in memory | × | known on disk | × | snapshot and back |');
console.log('|---|---|---|---|---|---|---|');
try {
  for (const shape of shapes) {
    const path = existsSync(shape) ? shape : join(folder, 'model.gguf');
    if (path !== shape) writeSynthetic(...shape.split(' '), path);
    const disk = { folder: join(folder, 'prompts'), bytes: 8 * GB, ...(values.encrypted && { key: randomBytes(32) }) };
    const open = async () => {
      const model = await addon.load(path, { device: 'cpu', threads: Number(values.threads) });
      model.setPromptCache(4 * GB);
      await model.setPromptCacheDisk(disk);
      await ask(model, promptOf(64), { cachePrompt: false });
      return model;
    };
    const known = chatOf(length);
    const prompt = Int32Array.from([...known, ...promptOf(50)]);
    const first = Int32Array.from([...known, OPENING]);
    let model = await open();
    const cold = (await ask(model, first, { owner: 'chat' })).firstTokenMs;
    console.error(`${shape}: cold ${ms(cold)} ms`);
    const warm = [];
    for (let round = 0; round < ROUNDS; round++) warm.push(await ask(model, prompt, { cachePrompt: false }));
    const back = await goingBack(model, known);
    await model.flushPromptCache();
    const { diskBytes } = model.promptCache();
    const restarted = [];
    for (let round = 0; round < ROUNDS; round++) {
      model.close();
      model = await open();
      restarted.push(await ask(model, prompt, { cachePrompt: false }));
    }
    model.close();
    const [memory, stored] = [warm, restarted].map((all) => median(all.map(({ firstTokenMs }) => firstTokenMs)));
    console.log(
      `| ${basename(shape)} | ${ms(cold)} | ${ms(memory)} (${warm[0].cachedTokens} tokens) | ${(cold / memory).toFixed(0)} | ` +
        `${ms(stored)} (${restarted[0].cachedTokens}, ${(diskBytes / 2 ** 20).toFixed(0)} MiB) | ${(cold / stored).toFixed(0)} | ${ms(back)} |`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
