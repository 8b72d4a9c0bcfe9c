// The cost of a grammar per token: a model of random weights in a published shape writes with and without one, in alternating
// rounds. Figures are processor time, which load on the machine changes least, of the best round. The vocabulary is that of Qwen3
// (151,669 tokens; rows above are padding).
//   node test/bench/grammar.mjs [SHAPE] [--rounds 7] [--tokens 64] [--threads 1]      for example "Qwen3.5-0.8B Q4_0"
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tokenTexts } from '../../app/text/tokenizer/token-texts.ts';
import { createTokenizer } from '../../app/text/tokenizer/tokenizer.ts';
import { realModel } from '../support/models/real-models.mjs';
import { promptOf } from './prompt.mjs';
import { writeSynthetic } from './shapes/synthetic.mjs';

const addon = createRequire(import.meta.url)(join(import.meta.dirname, '../../build/native/Release/longhand.node'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    tokens: { type: 'string', default: '64' },
    threads: { type: 'string', default: '1' },
  },
});
const [shape, fileType] = (positionals[0] ?? 'Qwen3.5-0.8B Q4_0').split(' ');

const people = {
  type: 'array',
  minItems: 50,
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' }, kind: { enum: ['a', 'b'] } },
    required: ['name', 'age', 'kind'],
    additionalProperties: false,
  },
};
const sources = { everything: ['regex', '[\\s\\S]*'], people: ['json-schema', JSON.stringify(people)] };

const folder = mkdtempSync(join(tmpdir(), 'longhand-bench-'));
try {
  const path = join(folder, 'model.gguf');
  writeSynthetic(shape, fileType, path);
  const model = await addon.load(path, { device: 'cpu', threads: Number(values.threads) });
  const tokenizer = createTokenizer(JSON.parse(readFileSync(await realModel('qwen3-tokenizer'), 'utf8')));
  const { bytes, ends } = tokenTexts(tokenizer, model.vocabularySize);
  const vocabulary = await addon.vocabulary(bytes, ends);
  const grammars = { none: undefined };
  for (const [name, [kind, text]] of Object.entries(sources)) grammars[name] = await vocabulary.grammar(kind, text);
  const session = model.createSession({ contextLength: 1024 });
  const times = Object.fromEntries(Object.keys(grammars).map((name) => [name, []]));
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const [name, grammar] of round % 2 ? Object.entries(grammars) : Object.entries(grammars).toReversed()) {
      const before = process.cpuUsage();
      const { tokens } = await session.generate(promptOf(16), {
        maxTokens: Number(values.tokens),
        temperature: 0, // random weights make a nearly flat choice, which a mask would only make shorter
        cachePrompt: false,
        ...(grammar && { grammar }),
      });
      const { user, system } = process.cpuUsage(before);
      if (round > 0) times[name].push((user + system) / 1000 / tokens.length);
    }
  }
  console.log(`${shape} ${fileType}, ${model.vocabularySize} tokens, ${model.device.name}, ${values.threads} threads`);
  for (const [name, each] of Object.entries(times)) {
    const [best, none] = [Math.min(...each), Math.min(...times.none)];
    console.log(
      `${name.padEnd(10)} ${best.toFixed(2)} ms a token, ${((best / none - 1) * 100).toFixed(1)} % more than none`,
    );
  }
  model.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
