// The reader of documents (resources/reader) on the encoder that it was made for, against its own training code.
import { expect, test } from 'vitest';
import { createEngine } from '../../app/engine/client/engine-client.ts';
import { readModelText } from '../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../support/addon.ts';
import { realEngine } from '../support/core/core.ts';
import { pairs, reader, scoresAre } from '../support/documents/reader.ts';
import { instructionSets } from '../support/models/golden.ts';
import { realModel } from '../support/models/real-models.mjs';

test.each(instructionSets)('%s: the scores of pairs', async (cpu) => {
  await scoresAre(await addon.load(await realModel('minilm'), { adapter: reader, cpu }));
});

test('the engine reads a pair as the reader was trained on it', async () => {
  const path = await realModel('minilm');
  const { tokenizer } = await readModelText(addon, path);
  const { before, after } = tokenizer.around;
  const engine = createEngine({ startEngine: realEngine(), onStatus: () => {} });
  for (const { question, statement, tokens, score } of pairs) {
    const [first, second] = [tokenizer.encodeText(question), tokenizer.encodeText(statement)];
    expect([...before, ...first, ...after, ...second, ...after]).toEqual(tokens);
    const target = { path, device: null, threads: null, adapter: reader };
    const { scores } = await engine.ask('rank', { target, query: question, texts: [statement] });
    expect(scores[0]).toBeCloseTo(score, 3);
  }
  await engine.close();
});
