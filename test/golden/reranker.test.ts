// Cross-encoders: the tiny golden encoder with a head of one label beside it, against the same sums in double precision,
// written here once more. That they are right is seen on the states of the golden encoder, which are those of transformers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../support/addon.ts';
import {
  asFloats,
  f32,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../support/models/formats.ts';
import { instructionSets, largestDifference } from '../support/models/golden.ts';

const folder = join(golden, 'bert', 'tiny');
const read = (name: string) => readFileSync(join(folder, name));
const config = JSON.parse(read('config.json').toString());
const [hidden, heads, layers] = [config.hidden_size, config.num_attention_heads, config.num_hidden_layers];
const stored = readSafetensors(read('model.safetensors'));
const prefix = Object.keys(stored).some((name) => name.startsWith('bert.')) ? 'bert.' : '';

let state = 11;
const random = () => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 1_073_741_824 - 1;
};
const made = (...shape: number[]): StoredTensor => ({
  dtype: 'F32',
  shape,
  bytes: f32(...Array.from({ length: shape.reduce((a, b) => a * b) }, () => random() * 0.3)),
});
const head = {
  [`${prefix}pooler.dense.weight`]: made(hidden, hidden),
  [`${prefix}pooler.dense.bias`]: made(hidden),
  'classifier.weight': made(1, hidden),
  'classifier.bias': made(1),
};
const reranker = { ...stored, ...head };
const folderOf = (tensors: Record<string, StoredTensor>, change: object = {}) =>
  temporaryFolder({
    'config.json': JSON.stringify({
      ...config,
      architectures: ['BertForSequenceClassification'],
      ...change,
    }),
    'model.safetensors': safetensors(tensors),
  });

// The reference. Rows are lists of numbers; a weight is [out, in].
type Row = number[];
const weight = (name: string): Float32Array =>
  asFloats((reranker[prefix + name] ?? reranker[name] ?? { bytes: new Uint8Array() }).bytes);
const rowOf = (name: string, row: number): Row => [...weight(name).subarray(row * hidden, (row + 1) * hidden)];
const added = (...rows: Row[]): Row =>
  rows.reduce((sum, row) => sum.map((value, at) => value + (row[at] ?? Number.NaN)));
function dense(name: string, x: Row): Row {
  const matrix = weight(`${name}.weight`);
  return [...weight(`${name}.bias`)].map((bias, out) =>
    x.reduce((sum, value, at) => sum + value * (matrix[out * x.length + at] ?? Number.NaN), bias),
  );
}
function normal(name: string, x: Row): Row {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const spread = Math.sqrt(x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length + config.layer_norm_eps);
  const [gain, bias] = [weight(`${name}.weight`), weight(`${name}.bias`)];
  return x.map((value, at) => ((value - mean) / spread) * (gain[at] ?? Number.NaN) + (bias[at] ?? Number.NaN));
}
/** Abramowitz and Stegun 7.1.5: the series, exact enough for what a layer gives. */
function erf(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 80; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
const gelu = (x: number): number => (Math.abs(x) > 5 ? Math.max(0, x) : 0.5 * x * (1 + erf(x / Math.SQRT2)));
const dot = (a: Row, b: Row): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? Number.NaN), 0);

function attention(name: string, x: Row[]): Row[] {
  const size = hidden / heads;
  const [q, k, v] = ['query', 'key', 'value'].map((part) => x.map((row) => dense(`${name}.self.${part}`, row))) as [
    Row[],
    Row[],
    Row[],
  ];
  const part = (row: Row | undefined, which: number): Row => (row ?? []).slice(which * size, (which + 1) * size);
  return q.map((row) =>
    Array.from({ length: heads }, (_, which) => {
      const scores = k.map((key) => Math.exp(dot(part(row, which), part(key, which)) / Math.sqrt(size)));
      const all = scores.reduce((sum, one) => sum + one, 0);
      return added(...scores.map((score, at) => part(v[at], which).map((value) => (value * score) / all)));
    }).flat(),
  );
}

function statesOf(tokens: readonly number[], second: number): Row[] {
  let x = tokens.map((token, at) =>
    normal(
      'embeddings.LayerNorm',
      added(
        rowOf('embeddings.word_embeddings.weight', token),
        rowOf('embeddings.position_embeddings.weight', at),
        rowOf('embeddings.token_type_embeddings.weight', at < second ? 0 : 1),
      ),
    ),
  );
  for (let i = 0; i < layers; i++) {
    const name = `encoder.layer.${i}`;
    const mixed = attention(`${name}.attention`, x).map((row) => dense(`${name}.attention.output.dense`, row));
    x = x.map((row, at) => normal(`${name}.attention.output.LayerNorm`, added(row, mixed[at] ?? [])));
    const wide = x.map((row) => dense(`${name}.intermediate.dense`, row).map(gelu));
    x = x.map((row, at) =>
      normal(`${name}.output.LayerNorm`, added(row, dense(`${name}.output.dense`, wide[at] ?? []))),
    );
  }
  return x;
}

function scoreOf(tokens: readonly number[], second: number): number {
  const pooled = dense('pooler.dense', statesOf(tokens, second)[0] ?? []).map(Math.tanh);
  return dense('classifier', pooled)[0] ?? Number.NaN;
}

const texts = [
  { tokens: [1, 9, 30, 2, 44, 12, 7, 2], second: 4 },
  { tokens: [1, 9, 30, 2, 44, 12, 7, 2], second: 6 },
  {
    tokens: [1, ...Array.from({ length: 90 }, (_, at) => 5 + ((at * 37) % 140)), 2],
    second: 12,
  },
];

async function rank(
  model: Awaited<ReturnType<typeof addon.load>>,
  tokens: readonly number[],
  second: number,
): Promise<number> {
  const [score] = await model.rank(Int32Array.from(tokens), Int32Array.of(second), Int32Array.of(tokens.length));
  return score ?? Number.NaN;
}

test('the sums of this file give the states that transformers gives', () => {
  const { prompts } = JSON.parse(read('expected.json').toString()) as {
    prompts: Record<string, { ids: number[]; attention_mask: number[] }>;
  };
  const expected = readSafetensors(read('expected.safetensors'));
  for (const [name, { ids, attention_mask }] of Object.entries(prompts)) {
    const tokens = ids.filter((_, at) => attention_mask[at] === 1);
    const states = Float32Array.from(statesOf(tokens, tokens.length).flat());
    const wanted = asFloats(expected[`last_hidden.${name}`]?.bytes ?? new Uint8Array());
    expect(largestDifference(states, wanted), name).toBeLessThan(2e-5);
  }
});

test.each(instructionSets)('%s: the score of a pair of texts', async (cpu) => {
  const model = await addon.load(folderOf(reranker), { cpu });
  expect(model.description).toMatchObject({
    encoder: true,
    reranker: true,
    supported: true,
  });
  const alone = await Promise.all(texts.map(({ tokens, second }) => rank(model, tokens, second)));
  for (const [at, { tokens, second }] of texts.entries()) {
    expect(alone[at]).toBeCloseTo(scoreOf(tokens, second), 4);
  }
  const [first, other] = alone;
  expect(first).not.toBeCloseTo(other ?? 0, 4);
  // Side by side, and none sees another.
  const together = await model.rank(
    Int32Array.from(texts.flatMap(({ tokens }) => tokens)),
    Int32Array.from(texts, ({ second }) => second),
    Int32Array.from(texts, ({ tokens }) => tokens.length),
  );
  for (const [at, score] of together.entries()) expect(score).toBeCloseTo(alone[at] ?? Number.NaN, 5);
  await expect(model.embed(Int32Array.of(1, 2))).rejects.toThrow('scores pairs');
  await expect(rank(model, [1, 5, 2], 3)).rejects.toThrow('expected 1 to 2');
  await expect(
    rank(
      model,
      Array.from({ length: 97 }, () => 5),
      3,
    ),
  ).rejects.toMatchObject({ code: 'context' });
  const [tokens, one, three] = [Int32Array.of(1, 5, 2), Int32Array.of(1), Int32Array.of(3)];
  await expect(model.rank(tokens, Int32Array.of(1, 1), three)).rejects.toThrow('1 texts and 2 starts');
  await expect(model.rank(tokens, one, Int32Array.of(2))).rejects.toThrow('do not add up');
  await expect(model.rank(tokens, one, Int32Array.of())).rejects.toThrow('do not add up');
  model.close();
});

test('an encoder ranks nothing; a head with more labels, or without its pooler, is refused by name', async () => {
  const plain = await addon.load(folder);
  expect(plain.description.reranker).toBe(false);
  await expect(rank(plain, [1, 5, 2], 1)).rejects.toThrow('cross-encoders do');
  plain.close();
  const labels = {
    ...reranker,
    'classifier.weight': made(3, hidden),
    'classifier.bias': made(3),
  };
  await expect(addon.load(folderOf(labels))).rejects.toThrow('classifier.weight');
  const { [`${prefix}pooler.dense.weight`]: _, ...headless } = reranker;
  await expect(addon.load(folderOf(headless))).rejects.toThrow('pooler.dense.weight');
  const type = stored[`${prefix}embeddings.token_type_embeddings.weight`] as StoredTensor;
  const single = {
    ...reranker,
    [`${prefix}embeddings.token_type_embeddings.weight`]: {
      ...type,
      shape: [1, hidden],
      bytes: type.bytes.slice(0, hidden * 4),
    },
  };
  await expect(addon.load(folderOf(single, { type_vocab_size: 1 }))).rejects.toThrow('type_vocab_size');
});
