// Encoders: one vector a text, pooled and normalised as the checkpoint's own files say.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Model } from '../../native/addon/index.d.ts';
import { addon, golden } from '../support/addon.ts';
import { asFloats, readSafetensors, temporaryFolder } from '../support/models/formats.ts';
import { instructionSets, largestDifference } from '../support/models/golden.ts';
import { realModel } from '../support/models/real-models.mjs';
import { convertedFile } from './cases.ts';

interface Facts {
  prompts: Record<string, { ids: number[]; attention_mask: number[] }>;
  tolerance: { max_abs: number };
}

const folder = join(golden, 'bert', 'tiny');
const { prompts, tolerance } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Facts;
const expected = readSafetensors(readFileSync(join(folder, 'expected.safetensors')));
const wanted = (tensor: string) => asFloats(expected[tensor]?.bytes ?? new Uint8Array());
const textOf = ({ ids, attention_mask }: { ids: number[]; attention_mask: number[] }) =>
  Int32Array.from(ids.filter((_, i) => attention_mask[i] === 1));

test.each(instructionSets.flatMap((cpu) => [[cpu, 'safetensors'] as const, [cpu, 'gguf'] as const]))(
  '%s: bert/tiny from %s',
  async (cpu, container) => {
    const model = await addon.load(container === 'gguf' ? convertedFile('bert', 'bert/tiny') : folder, { cpu });
    for (const [name, prompt] of Object.entries(prompts)) {
      const vector = await model.embed(textOf(prompt));
      expect(largestDifference(vector, wanted(`embedding.${name}`)), name).toBeLessThanOrEqual(tolerance.max_abs);
    }
    expect(model.description.encoder).toBe(true);
    expect(() => model.createSession()).toThrow('encoder');
    model.close();
  },
);

/** The same weights beside the files of sentence-transformers. */
function besides(files: Record<string, object>): Promise<Model> {
  const path = temporaryFolder({
    'config.json': readFileSync(join(folder, 'config.json')),
    'model.safetensors': readFileSync(join(folder, 'model.safetensors')),
  });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), JSON.stringify(content));
  }
  return addon.load(path);
}

const transformer = { idx: 0, path: '', type: 'sentence_transformers.models.Transformer' };
const pooling = { idx: 1, path: '1_Pooling', type: 'sentence_transformers.models.Pooling' };
const [name = '', prompt = { ids: [], attention_mask: [] }] = Object.entries(prompts)[1] ?? [];
const states = wanted(`last_hidden.${name}`);
const rows = textOf(prompt).length;
const width = states.length / rows;

test('without a Normalize module the vector keeps its length', async () => {
  const model = await besides({
    'modules.json': [transformer, pooling],
    '1_Pooling/config.json': { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false },
  });
  const mean = Float32Array.from({ length: width }, (_, c) => {
    let sum = 0;
    for (let t = 0; t < rows; t++) sum += states[t * width + c] ?? Number.NaN;
    return sum / rows;
  });
  expect(largestDifference(await model.embed(textOf(prompt)), mean)).toBeLessThanOrEqual(tolerance.max_abs);
  model.close();
});

test('CLS pooling takes the first state', async () => {
  const model = await besides({
    'modules.json': [transformer, pooling],
    '1_Pooling/config.json': { pooling_mode_mean_tokens: false, pooling_mode_cls_token: true },
  });
  const first = states.subarray(0, width);
  expect(largestDifference(await model.embed(textOf(prompt)), first)).toBeLessThanOrEqual(tolerance.max_abs);
  model.close();
});

test('another pooling is refused with its name', async () => {
  const load = besides({
    'modules.json': [transformer, pooling],
    '1_Pooling/config.json': { pooling_mode_max_tokens: true },
  });
  await expect(load).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('pooling_mode_max_tokens'),
  });
});

test('a text longer than the model reads is an error with code `context`', async () => {
  const model = await addon.load(folder);
  await expect(model.embed(new Int32Array(97).fill(5))).rejects.toMatchObject({ code: 'context' });
  model.close();
});

test.each(instructionSets)('%s: texts read side by side have the vectors they have alone', async (cpu) => {
  const model = await addon.load(folder, { cpu });
  const texts = Object.values(prompts).map(textOf);
  const alone = await Promise.all(texts.map((tokens) => model.embed(tokens)));
  const lengths = Int32Array.from(texts, ({ length }) => length);
  const together = await model.embed(Int32Array.from(texts.flatMap((tokens) => [...tokens])), lengths);
  expect(texts.length).toBeGreaterThan(1);
  expect(together).toEqual(Float32Array.from(alone.flatMap((vector) => [...vector])));
  model.close();
});

test('lengths that are not those of the tokens are refused', async () => {
  const model = await addon.load(folder);
  for (const lengths of [[], [2], [2, 2], [4, -1], [3, 0]]) {
    const read = model.embed(Int32Array.of(5, 6, 7), Int32Array.from(lengths));
    await expect(read, `${lengths}`).rejects.toMatchObject({ code: 'argument' });
  }
  model.close();
});

test('all-MiniLM-L6-v2: the vectors of the published model', { timeout: 600_000 }, async () => {
  const real = join(golden, 'bert', 'all_minilm_l6_v2');
  const { sentences, tolerance: within } = JSON.parse(readFileSync(join(real, 'expected.json'), 'utf8')) as {
    sentences: { text: string; ids: number[] }[];
    tolerance: { max_abs: number };
  };
  const { embeddings } = readSafetensors(readFileSync(join(real, 'expected.safetensors')));
  const vectors = asFloats(embeddings?.bytes ?? new Uint8Array());
  const model = await addon.load(await realModel('minilm'));
  const columns = model.description.hiddenSize;
  const together = await model.embed(
    Int32Array.from(sentences.flatMap(({ ids }) => ids)),
    Int32Array.from(sentences, ({ ids }) => ids.length),
  );
  for (const [i, { text, ids }] of sentences.entries()) {
    const vector = await model.embed(Int32Array.from(ids));
    expect(together.subarray(i * columns, (i + 1) * columns)).toEqual(vector);
    const reference = vectors.subarray(i * columns, (i + 1) * columns);
    expect(largestDifference(vector, reference), text.slice(0, 40)).toBeLessThanOrEqual(within.max_abs);
  }
  model.close();
});
