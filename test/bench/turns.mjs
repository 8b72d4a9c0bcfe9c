// A session of 200 turns with the prompt cache, in memory and on disk: appending, editing, regenerating, branching, another chat, a
// title in between, thinking that a template drops, and a restart every ninth turn.
//   node test/bench/turns.mjs [MODEL or SHAPE ...] [--turns 200] [--out FILE.md]   for example "Qwen3.5-0.8B Q4_0"
// The cost of a first token with and without the cache: first-token.mjs
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isWithin, KINDS, playTurns } from '../support/models/turn-script.ts';
import { writeSynthetic } from './shapes/synthetic.mjs';

const addon = createRequire(import.meta.url)(join(import.meta.dirname, '../../build/native/Release/longhand.node'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    turns: { type: 'string', default: '200' },
    threads: { type: 'string', default: '2' },
    out: { type: 'string' },
  },
});
const models = positionals.length > 0 ? positionals : [join(import.meta.dirname, '../../resources/starter-model')];
const GB = 2 ** 30;
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const most = (numbers) => Math.max(0, ...numbers);
const ms = (number) => (number < 10 ? number.toFixed(1) : number.toFixed(0));

const lines = [];
const print = (line = '') => {
  lines.push(line);
  console.log(line);
};

function report(turns, model, seconds) {
  print(`### ${model}, ${turns.length} turns, ${values.threads} threads`);
  print();
  print('| turn | count | prompt, tokens | new | known | read again, median | most | first token, ms |');
  print('|---|---|---|---|---|---|---|---|');
  for (const kind of [...KINDS, 'all']) {
    const of = kind === 'all' ? turns : turns.filter((turn) => turn.kind === kind);
    if (of.length === 0) continue;
    const middle = (key) => Math.round(median(of.map((turn) => turn[key])));
    const [again, first] = [of.map((turn) => turn.again), of.map((turn) => turn.firstTokenMs)];
    print(
      `| ${kind} | ${of.length} | ${middle('prompt')} | ${middle('fresh')} | ${middle('cached')} | ` +
        `${median(again)} | ${most(again)} | ${ms(median(first))} |`,
    );
  }
  const reasons = Map.groupBy(
    turns.filter(({ again }) => again > 0),
    ({ reason }) => reason,
  );
  const why = [...reasons].map(([reason, all]) => `${all.length} × ${reason}`).join(', ');
  print();
  print(
    `At most one chunk (512 tokens) read again, and with a reason: ${turns.filter(isWithin).length} of ${turns.length} turns. ` +
      `Something was read again in ${turns.filter(({ again }) => again > 0).length} (${why || 'none'}). ${seconds.toFixed(0)} s.`,
  );
  print();
}

let failed = 0;
for (const name of models) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-turns-'));
  try {
    const path = existsSync(name) ? name : join(folder, 'model.gguf');
    if (path !== name) writeSynthetic(...name.split(' '), path);
    const open = async () => {
      const model = await addon.load(path, { device: 'cpu', threads: Number(values.threads) });
      model.setPromptCache(2 * GB);
      await model.setPromptCacheDisk({ folder: join(folder, 'prompts'), bytes: 8 * GB });
      return model;
    };
    const began = performance.now();
    const seconds = () => (performance.now() - began) / 1000;
    const onTurn = (turn, index) => {
      const { kind, prompt, fresh, cached, again, reason, firstTokenMs } = turn;
      if (again > 0 || index % 10 === 9)
        console.error(
          `${seconds().toFixed(1)} s, turn ${index + 1} of ${values.turns}: ${kind}, ${prompt} tokens, ${fresh} new, ` +
            `${cached} known, ${again} again (${reason}), first token after ${ms(firstTokenMs)} ms`,
        );
    };
    const script = {
      open,
      turns: Number(values.turns),
      seed: 200,
      contextLength: 4096,
      long: 900,
      short: 120,
      answer: 24,
    };
    const turns = await playTurns({ ...script, onTurn });
    report(turns, basename(name), seconds());
    failed += turns.filter((turn) => !isWithin(turn)).length;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
if (values.out) writeFileSync(values.out, `${lines.join('\n')}\n`);
process.exit(failed > 0 ? 1 : 0);
