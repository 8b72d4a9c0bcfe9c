// Model outputs that others recorded: one half to fit the loop detector on, the other to examine it with:
//   node test/bench/loops/texts.mjs ALPACA_EVAL COT_OVERTHINKING THINKING_TRACES_EVAL FOLDER
// Checkouts of tatsu-lab/alpaca_eval, tobypullan/CoTOverthinking and oaustegard/thinking-traces-eval; writes tuning.jsonl and
// report.jsonl into FOLDER, one text per line. The halves share neither a model nor a question. The texts are not ours to
// distribute: they stay where they are written.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const [alpaca, overthinking, traces, folder] = process.argv.slice(2);
if (!folder || [alpaca, overthinking, traces].some((path) => !existsSync(path))) {
  console.error(
    '[texts] three checkouts that are there and a folder: ALPACA_EVAL COT_OVERTHINKING THINKING_TRACES_EVAL FOLDER',
  );
  process.exit(2);
}

const digest = (text) => createHash('sha256').update(text).digest();
const halfOf = (name) => (digest(name)[0] % 2 === 0 ? 'tuning' : 'report');
/** A sixth of them is plenty. */
const isTaken = (name) => digest(name)[1] % 6 === 0;
const files = (root, pattern) => globSync(pattern, { cwd: root }).toSorted();

/** Files that are not JSON are left out: some in these repositories are pointers to others. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Every text within a value. */
function* textsIn(value) {
  if (typeof value === 'string') yield value;
  else if (value && typeof value === 'object') for (const one of Object.values(value)) yield* textsIn(one);
}

/** Answers of many models to the questions of AlpacaEval, split by both model and question, so that the halves share neither. */
function* answers() {
  for (const path of files(alpaca, 'results/*/model_outputs.json').filter((one) => !one.includes('NullModel'))) {
    const model = path.split('/')[1];
    for (const { instruction, output } of parsed(readFileSync(join(alpaca, path), 'utf8')) ?? []) {
      if (typeof output !== 'string' || output.length < 400 || !isTaken(model + instruction)) continue;
      const half = halfOf(`model ${model}`);
      if (half !== halfOf(`prompt ${instruction}`)) continue;
      const id = `alpaca/${model}/${digest(instruction).toString('hex').slice(0, 8)}`;
      yield [half, { id, kind: 'alpaca_eval', where: 'answer', text: output }];
    }
  }
}

/** Chains of thought; those with the same beginning count once. */
function* thoughts() {
  const seen = new Set();
  for (const path of files(overthinking, '**/*.jsonl'))
    for (const line of readFileSync(join(overthinking, path), 'utf8').split('\n'))
      for (const text of textsIn(parsed(line))) {
        const begin = text.slice(0, 300);
        if (text.length < 600 || seen.has(begin)) continue;
        seen.add(begin);
        const name = digest(begin).toString('hex').slice(0, 10);
        yield [halfOf(name), { id: `cot/${name}`, kind: 'CoTOverthinking', where: 'thinking', text }];
      }
}

function* solutions() {
  for (const path of files(traces, 'answers*/**/*.md')) {
    const text = readFileSync(join(traces, path), 'utf8');
    if (text.length < 400 || !isTaken(path)) continue;
    yield [
      halfOf(`problem ${basename(path)}`),
      { id: `etingof/${path}`, kind: 'thinking-traces-eval', where: 'both', text },
    ];
  }
}

const out = { tuning: [], report: [] };
for (const source of [answers, thoughts, solutions])
  for (const [half, row] of source()) out[half].push(`${JSON.stringify(row)}\n`);
mkdirSync(folder, { recursive: true });
for (const [half, lines] of Object.entries(out)) {
  writeFileSync(join(folder, `${half}.jsonl`), lines.join(''));
  console.log(`${half}: ${lines.length} texts`);
}
