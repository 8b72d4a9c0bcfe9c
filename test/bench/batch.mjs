// Tokens per second of several answers written at the same time, and of one alone, in alternating rounds.
//   node test/bench/batch.mjs [SHAPE or FILE ...] [--device cpu] [--rows 1,2,4,8] [--rounds 5] [--tokens 32] [--threads 2]
// for example "Qwen3.5-0.8B Q4_0" or model.gguf
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { promptOf } from './prompt.mjs';
import { writeSynthetic } from './shapes/synthetic.mjs';

const addon = createRequire(import.meta.url)(join(import.meta.dirname, '../../build/native/Release/longhand.node'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: 'string', default: 'cpu' },
    rows: { type: 'string', default: '1,2,4,8' },
    rounds: { type: 'string', default: '5' },
    tokens: { type: 'string', default: '32' },
    threads: { type: 'string', default: '2' },
  },
});
const shapes = positionals.length > 0 ? positionals : ['Qwen3.5-0.8B Q4_0'];
const rows = values.rows.split(',').map(Number);
const maxTokens = Number(values.tokens);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Tokens a second, of all answers together, from when the last of them begins until the first of them ends. */
async function written(sessions) {
  const times = sessions.map(() => []);
  const ask = (session, index) => {
    const onTokens = (tokens) => times[index].push(...Array.from(tokens, () => performance.now()));
    const prompt = promptOf(16 + index);
    return session.generate(prompt, { maxTokens, temperature: 0, path: 'fast', cachePrompt: false, onTokens });
  };
  await Promise.all(sessions.map(ask));
  const from = Math.max(...times.map((each) => each[0]));
  const to = Math.min(...times.map((each) => each.at(-1)));
  const count = times.flat().filter((time) => time > from && time <= to).length;
  return (count * 1000) / (to - from);
}

const folder = mkdtempSync(join(tmpdir(), 'longhand-batch-'));
try {
  console.log(`| model | ${rows.map((count) => `${count} at once`).join(' | ')} | × one |`);
  console.log(`|---|${rows.map(() => '---').join('|')}|---|`);
  for (const shape of shapes) {
    const path = existsSync(shape) ? shape : join(folder, 'model.gguf');
    if (path !== shape) writeSynthetic(...shape.split(' '), path);
    const model = await addon.load(path, { device: values.device, threads: Number(values.threads) });
    const sessions = Array.from({ length: Math.max(...rows) }, () => model.createSession({ contextLength: 512 }));
    // A GPU compiles a kernel for each number of rows when it is first needed.
    for (const count of rows) await written(sessions.slice(0, count));
    const speeds = rows.map(() => []);
    for (let round = 0; round < Number(values.rounds); round++)
      for (const [at, count] of rows.entries()) speeds[at].push(await written(sessions.slice(0, count)));
    const medians = speeds.map(median);
    const gain = ((medians.at(-1) ?? 0) / (medians[0] ?? 1)).toFixed(2);
    console.log(`| ${shape} | ${medians.map((speed) => speed.toFixed(1)).join(' | ')} | ${gain} |`);
    model.close();
  }
} finally {
  rmSync(folder, { recursive: true });
}
