// A session of 200 turns with the prompt cache, and the price of a first token with and without it.
//   node test/bench/turns.mjs [SHAPE ...] [--turns 200] [--context 12288] [--out FILE.md]      for example "Qwen3.5-0.8B Q4_0"
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KINDS, playTurns } from '../support/turn-script.ts';
import { promptOf } from './prompt.mjs';
import { writeSynthetic } from './synthetic.mjs';

const addon = createRequire(import.meta.url)(join(import.meta.dirname, '../../build/native/Release/longhand.node'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    turns: { type: 'string', default: '200' },
    context: { type: 'string', default: '12288' },
    threads: { type: 'string', default: '2' },
    out: { type: 'string' },
  },
});
const shapes = positionals.length > 0 ? positionals : ['Qwen3.5-0.8B Q4_0', 'Qwen3-0.6B Q4_0'];
const GB = 2 ** 30;
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const ms = (number) => (number < 10 ? number.toFixed(1) : number.toFixed(0));

/** The first token of a prompt nobody knows, and of the same with 50 tokens more, by a session that has read neither. */
async function firstTokens(model, length) {
  const contextLength = length + 128;
  const ask = async (prompt, keep = true) => {
    const session = model.createSession({ contextLength });
    const { timings } = await session.generate(prompt, { maxTokens: 1, temperature: 0, keep });
    session.close();
    return timings;
  };
  const prompt = promptOf(length + 50);
  await ask(promptOf(64), false);
  const cold = await ask(prompt.subarray(0, length));
  const warm = [];
  for (let run = 0; run < 5; run++) warm.push(await ask(prompt, false));
  return {
    cold: cold.firstTokenMs,
    warm: median(warm.map(({ firstTokenMs }) => firstTokenMs)),
    cached: warm[0].cachedTokens,
  };
}

async function restores(model, length) {
  const session = model.createSession({ contextLength: length + 128 });
  await session.generate(promptOf(length), { maxTokens: 1, cachePrompt: false });
  const at = await session.snapshot();
  const took = [];
  for (let run = 0; run < 5; run++) {
    await session.generate(Int32Array.from([...session.tokens(), 7]), {
      maxTokens: 1,
      continues: 2,
      cachePrompt: false,
    });
    const began = performance.now();
    await session.rewind(at);
    took.push(performance.now() - began);
  }
  session.close();
  return median(took);
}

const lines = [];
const print = (line = '') => {
  lines.push(line);
  console.log(line);
};
const folder = mkdtempSync(join(tmpdir(), 'longhand-turns-'));
try {
  for (const shape of shapes) {
    const path = join(folder, 'model.gguf');
    writeSynthetic(...shape.split(' '), path);
    const model = await addon.load(path, { device: 'cpu', threads: Number(values.threads) });
    model.setPromptCache(4 * GB);
    const { cold, warm, cached } = await firstTokens(model, Number(values.context));
    const restore = await restores(model, 2048);
    await model.clearPromptCache();
    const turns = await playTurns({
      model,
      turns: Number(values.turns),
      seed: 200,
      contextLength: 4096,
      long: 900,
      short: 120,
      answer: 24,
    });
    print(`### ${shape}, ${model.device.detail.split(',')[0]}, ${values.threads} threads`);
    print();
    print(
      `First token after ${values.context} tokens: ${ms(cold)} ms cold, ${ms(warm)} ms with ${cached} known and 50 more: ` +
        `${(cold / warm).toFixed(0)} times as fast. Going back to a snapshot takes ${ms(restore)} ms. ` +
        `The cache holds ${(model.promptCache().bytes / 2 ** 20).toFixed(0)} MB after ${turns.length} turns.`,
    );
    print();
    print('| turn | count | prompt, tokens | new | known | read again, most | first token, ms |');
    print('|---|---|---|---|---|---|---|');
    for (const kind of [...KINDS, 'all']) {
      const of = kind === 'all' ? turns : turns.filter((turn) => turn.kind === kind);
      if (of.length === 0) continue;
      const middle = (key) => Math.round(median(of.map((turn) => turn[key])));
      print(
        `| ${kind} | ${of.length} | ${middle('prompt')} | ${middle('fresh')} | ${middle('cached')} | ` +
          `${Math.max(...of.map(({ again }) => again))} | ${ms(median(of.map(({ firstTokenMs }) => firstTokenMs)))} |`,
      );
    }
    const within = turns.filter(({ again }) => again <= 512).length;
    print();
    print(`At most one chunk (512 tokens) read again: ${within} of ${turns.length} turns.`);
    print();
    model.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (values.out) writeFileSync(values.out, `${lines.join('\n')}\n`);
process.exit(0);
