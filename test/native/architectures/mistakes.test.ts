// Mistakes that other engines made with these models, and the test here that would catch each. Where a test
// elsewhere does, it is named; the rest follow below.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ggufConverted, mlxFolders, published } from '../../golden/cases.ts';
import { addon, golden, repository } from '../../support/addon.ts';
import { readSafetensors, type StoredTensor, safetensors, temporaryFolder } from '../../support/models/formats.ts';
import { type HubConfig, toGguf } from '../../support/models/gguf-conversion.ts';
import { exactSession, largestDifference, readCase, required } from '../../support/models/golden.ts';
import { fingerprint, someTokens } from '../../support/models/models.ts';
import { largeStates } from '../../support/models/shapes.ts';

const here = 'test/native/architectures/mistakes.test.ts';
/** Whole models against the numbers of their reference, read at once and in chunks. */
const models = ['test/golden/safetensors.test.ts', 'gives the numbers of the reference'] as const;

/** The mistake, the file and title of the test that would catch it, and the case or the check of it that does. */
const catalogue: [mistake: string, file: string, title: string, by?: string][] = [
  ['recurrent state kept in bf16', ...models, 'checkStates'],
  ['delta rule or its triangle in bf16', 'test/ops/gated_delta.test.ts', 'golden delta rule'],
  ['exp of a positive difference overflows inside a chunk', here, 'a decay that ends every memory'],
  ['padded tokens reach the state, the convolution keeps padding', ...models, 'checkLogits'],
  ['A_log rounded to half precision', here, 'A_log stored in bf16'],
  ['SiLU forgotten, or on v only', ...models, 'qwen3_5/dense_tied'],
  ['query and gate split as flat halves', ...models, 'qwen3_5/dense_gqa_mixed'],
  ['state read before it is written, decay after it', 'test/ops/gated_delta.test.ts', 'golden delta rule'],
  ['value head h reads key head h mod n in published files', ...models, 'qwen3_5/dense_gqa_mixed'],
  ['value head h reads key head h / r in GGUF files', 'test/golden/gguf.test.ts', 'converted from', 'qwen35moe'],
  ['Qwen3-Next in GGUF taken for tiled heads', 'test/golden/gguf.test.ts', 'converted from', 'qwen3next'],
  ['state leaks into the next request', here, 'two conversations on one model'],
  ['snapshot copies bytes where it means elements', 'test/native/engine/timeline.test.ts', 'equals a straight run'],
  ['convolution left out of a snapshot', 'test/native/engine/timeline.test.ts', 'equals a straight run'],
  ['snapshots without end', here, 'snapshots stay few'],
  ['norms shifted because mtp.* is there', 'test/golden/mtp.test.ts', '%s from %s', 'dense_gqa_mixed'],
  ['norms shifted by their values, not by the layout', 'test/golden/mlx.test.ts', '%s', 'qwen3_5_4bit'],
  ['the gated norm of the mixer shifted as well', ...models, 'qwen3_5/dense_tied'],
  ['recurrent layers cut like a cache', 'test/native/engine/timeline.test.ts', 'leaves no trace'],
  [
    'the whole prompt read again without a word',
    'test/native/engine/timeline.test.ts',
    'regenerating reads again what stands behind',
  ],
  ['drafting from the state before the final norm', 'test/golden/mtp.test.ts', '%s from %s', 'chain_logits'],
  ['drafting head without the tied embedding', 'test/golden/mtp.test.ts', '%s from %s', 'dense_tied'],
  ['vision tensors refused, or loaded unasked', here, 'the vision tower is left out'],
  ['embedding used where an output matrix exists', ...models, 'qwen3/hd128_untied'],
  ['an untied model without an output matrix', here, 'falls back to the embedding'],
  ['rope_theta read from the top level only', ...models, 'qwen3_5/real_head_dims'],
  ['mixed types in one checkpoint', ...models, 'qwen3_5/dense_gqa_mixed'],
  ['FP8 scales by block and by tensor mixed', 'test/native/formats/fp8.test.ts', 'one for the tensor, one a row'],
  ['head_dim taken as hidden / heads', ...models, 'qwen3/hd128_untied'],
  ['LFM2 width as configured, not as adjusted', ...models, 'lfm2/auto_adjust'],
  ['LFM2 width adjusted where it must not be', ...models, 'lfm2/no_adjust'],
  ['LFM2 GGUF of the first days: output_norm', here, 'final norm under its early name'],
  ['beginning of text twice', 'test/app/text/special-token-escape.test.ts', 'gets no second one'],
  ['LFM2 state is X, not B * X', ...models, 'lfm2/auto_adjust'],
  ['LFM2 conversations in parallel mix their states', here, 'two conversations on one model'],
  [
    'reading token by token taken for reading at once where they differ',
    here,
    'have the logits of that way of reading',
  ],
  ['64 blocks where 96 are in effect', 'test/ops/sparse.test.ts', 'golden blocks'],
  ['lightning slopes scaled by layer, decay with the wrong sign', ...models, 'minicpm_sala/mixed'],
  ['rotary tables silently zero', ...models, 'checkHidden'],
  ['[heads, tokens] taken for [tokens, heads]', 'test/ops/gla.test.ts', 'golden'],
  ['token type of an encoder forgotten', 'test/golden/bert.test.ts', 'bert/tiny from'],
  ['unknown pieces of a word told one by one', 'test/app/text/tokenizer/gguf-tokenizer.test.ts', 'phantom space'],
];

const sourceOf = (file: string) => readFileSync(join(repository, file), 'utf8');

/** Titles of the tests and groups that a file declares: a string first, then perhaps options, then a function. */
function titlesOf(file: string): string[] {
  const declared =
    /(?:\btest|\bdescribe|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1,\s*(?:\{[^}]*\},\s*)?(?:async )?(?:\(|\w+ =>)/g;
  return [...sourceOf(file).matchAll(declared)].map(([, , title]) => title ?? '');
}

const goldenCases = new Set([...published, ...mlxFolders, ...ggufConverted.flat()]);

test.each(catalogue)('%s is looked for in %s', (_, file, title, by) => {
  expect(titlesOf(file).filter((declared) => declared.includes(title))).not.toEqual([]);
  if (by !== undefined) expect(goldenCases.has(by) || sourceOf(file).includes(by), by).toBe(true);
});

test('a title that no test has is noticed', () => {
  expect(titlesOf(here)).toContain('a title that no test has is noticed');
  expect(titlesOf(here)).not.toContain('exp of a positive difference overflows inside a chunk');
});

function rewritten(name: string, change: (tensors: Record<string, StoredTensor>) => void, config?: object): string {
  const folder = join(golden, name);
  const tensors = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
  change(tensors);
  const told = { ...JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')), ...config };
  return temporaryFolder({ 'config.json': JSON.stringify(told), 'model.safetensors': safetensors(tensors) });
}

async function logitsOf(path: string, tokens: Int32Array): Promise<Float32Array> {
  const model = await addon.load(path, { device: 'cpu' });
  const session = exactSession(model);
  const { data } = await session.logits(tokens, { all: true });
  model.close();
  return data;
}

test('a decay that ends every memory is no overflow: each token stands alone', async () => {
  const path = rewritten('qwen3_5/dense_tied', (tensors) => {
    for (const [name, { bytes }] of Object.entries(tensors)) {
      if (name.endsWith('A_log')) bytes.set(new Uint8Array(new Float32Array(bytes.length / 4).fill(16).buffer));
    }
  });
  const tokens = someTokens(130);
  const logits = await logitsOf(path, tokens);
  expect(logits.every(Number.isFinite)).toBe(true);
});

test('the scale of a mixture counts: twice it is the experts twice', async () => {
  const doubled = rewritten('lfm2_moe/top4', (tensors) => {
    for (const [name, { dtype, bytes }] of Object.entries(tensors)) {
      if (!/experts\..*(w2|down_proj)/.test(name)) continue;
      expect(dtype).toBe('F32');
      const values = new Float32Array(bytes.slice().buffer).map((x) => 2 * x);
      bytes.set(new Uint8Array(values.buffer));
    }
  });
  const scaled = rewritten('lfm2_moe/top4', () => {}, { routed_scaling_factor: 2 });
  const tokens = someTokens(20);
  const expected = await logitsOf(doubled, tokens);
  expect(await logitsOf(scaled, tokens)).toEqual(expected);
  expect(await logitsOf(join(golden, 'lfm2_moe/top4'), tokens)).not.toEqual(expected);
});

test('A_log stored in bf16 is computed with in fp32', async () => {
  const rounded = (tensor: StoredTensor): Float32Array => {
    const bits = new Uint32Array(Uint8Array.from(tensor.bytes).buffer);
    return new Float32Array(bits.map((word) => word & 0xffff0000).buffer);
  };
  const change = (store: (tensor: StoredTensor) => void) => (tensors: Record<string, StoredTensor>) => {
    for (const [name, tensor] of Object.entries(tensors)) if (name.endsWith('A_log')) store(tensor);
  };
  const asF32 = rewritten(
    'qwen3_5/dense_tied',
    change((tensor) => {
      tensor.bytes = new Uint8Array(rounded(tensor).buffer);
    }),
  );
  const asBf16 = rewritten(
    'qwen3_5/dense_tied',
    change((tensor) => {
      const high = Uint16Array.from(new Uint32Array(rounded(tensor).buffer), (word) => word >>> 16);
      Object.assign(tensor, { dtype: 'BF16', bytes: new Uint8Array(high.buffer) });
    }),
  );
  const tokens = someTokens(65);
  expect(await logitsOf(asBf16, tokens)).toEqual(await logitsOf(asF32, tokens));
});

describe.each(['lfm2/auto_adjust', 'qwen3_5/dense_gqa_mixed', 'minicpm_sala/mixed'])('%s', (name) => {
  test('two conversations on one model, token by token in turn, are those of two models', async () => {
    const model = await addon.load(join(golden, name), { device: 'cpu' });
    const [a, b] = [someTokens(24, 1), someTokens(24, 2)];
    const alone = async (tokens: Int32Array) => {
      const session = exactSession(model);
      for (let n = 1; n <= tokens.length; n++) await session.generate(tokens.subarray(0, n), { maxTokens: 1 });
      const found = await fingerprint(session);
      session.close();
      return found;
    };
    const wanted = [await alone(a), await alone(b)];
    const [first, second] = [exactSession(model), exactSession(model)];
    for (let n = 1; n <= a.length; n++) {
      await Promise.all([
        first.generate(a.subarray(0, n), { maxTokens: 1 }),
        second.generate(b.subarray(0, n), { maxTokens: 1 }),
      ]);
    }
    expect([await fingerprint(first), await fingerprint(second)]).toEqual(wanted);
    model.close();
  });
});

test('snapshots stay few however long an answer is, and those of the first message and those asked for stay', async () => {
  const model = await addon.load(join(golden, 'qwen3_5/dense_tied'), { device: 'cpu' });
  const session = model.createSession({ contextLength: 4096, path: 'exact' });
  const END = 2; // ends a message
  const messages = Array.from({ length: 6 }, (_, i) => [...someTokens(9, i + 3), END]);
  const prompt = Int32Array.from([...someTokens(39), END, ...messages.flat(), 5]);
  await session.generate(prompt, { maxTokens: 2, stopTokens: [END] });
  const asked = await session.snapshot();
  const options = { maxTokens: 3500, temperature: 1, seed: 3, forbidden: [END], continues: asked - prompt.length + 2 };
  await session.generate(Int32Array.from([...session.tokens(), 7]), options);
  const lengths = session.snapshots();
  expect(lengths).toEqual(expect.arrayContaining([40, asked]));
  expect(lengths.length).toBeLessThanOrEqual(16);
  expect(lengths.length).toBeGreaterThan(6);
  model.close();
});

test('snapshots of large states keep to their share of memory, however many are asked for', async () => {
  const path = temporaryFolder({
    'config.json': largeStates.config,
    'model.safetensors': safetensors(largeStates.tensors()),
  });
  const model = await addon.load(path, { device: 'cpu' });
  const session = model.createSession({ contextLength: 256, path: 'exact' });
  for (let i = 0; i < 40; i++) {
    await session.generate(Int32Array.of(...session.tokens(), 3 + i), { maxTokens: 1, continues: i });
    await session.snapshot();
  }
  // A third of 512 MB for those that were asked for; the one of the first message stays.
  const bytesOfOne = largeStates.minimalBytes(0, 1).state / 2;
  const kept = session.snapshots();
  expect(kept.length).toBe(Math.floor(512e6 / 3 / bytesOfOne) + 1);
  expect(kept.at(-1)).toBe(40);
  model.close();
});

test('the vision tower is left out, and said', async () => {
  const path = rewritten('qwen3_5/dense_gqa_mixed', (tensors) => {
    tensors['model.visual.patch_embed.proj.bias'] = { dtype: 'F32', shape: [4], bytes: new Uint8Array(16) };
  });
  const { supported, notices } = await addon.inspect(path);
  expect(supported).toBe(true);
  expect(notices).toContain('the vision tower is not loaded');
});

test('an untied model without an output matrix falls back to the embedding, and says so', async () => {
  const name = 'llama/gqa_tied';
  const path = rewritten(name, () => {}, { tie_word_embeddings: false });
  expect((await addon.inspect(path)).notices).toContain('there is no output matrix: the embedding is used');
  const reference = readCase(name);
  const [prompt] = reference.prompts;
  if (prompt === undefined) throw new Error('the golden case has no prompt');
  const wanted = required(reference, `logits.${prompt.name}`);
  expect(largestDifference(await logitsOf(path, prompt.ids), wanted)).toBeLessThanOrEqual(reference.logitsTolerance);
});

test('LFM2 in GGUF with the final norm under its early name', async () => {
  const reference = readCase('lfm2/no_adjust');
  const config = JSON.parse(readFileSync(join(reference.folder, 'config.json'), 'utf8')) as HubConfig;
  const tensors = readSafetensors(readFileSync(join(reference.folder, 'model.safetensors')));
  const file = toGguf('lfm2', config, tensors, (name) =>
    name === 'token_embd_norm.weight' ? 'output_norm.weight' : name,
  );
  const [prompt] = reference.prompts;
  if (prompt === undefined) throw new Error('the golden case has no prompt');
  const logits = await logitsOf(join(temporaryFolder({ 'model.gguf': file }), 'model.gguf'), prompt.ids);
  expect(largestDifference(logits, required(reference, `logits.${prompt.name}`))).toBeLessThanOrEqual(
    reference.logitsTolerance,
  );
});

// Below dense_len = 160 every query is dense, at 160 and above it is sparse: a decode crosses over at one token, where a prefill of
// all 164 would have been sparse for each.
test.each([
  ['from the first on', 164],
  ['behind a prompt of 150', 14],
  ['behind a prompt of 159', 5],
])(
  'tokens that cross into the sparse regime one by one, %s, have the logits of that way of reading',
  async (_, generated) => {
    const reference = readCase('minicpm_sala/gap');
    const prompt = reference.prompts.find(({ name }) => name === 'len164');
    if (prompt === undefined) throw new Error('the golden case has no len164');
    const model = await addon.load(reference.folder, { device: 'cpu' });
    const { data } = await exactSession(model).logits(prompt.ids, { all: true, generated });
    const wanted = required(reference, 'logits_token_by_token.len164');
    expect(largestDifference(data, wanted)).toBeLessThanOrEqual(reference.logitsTolerance);
    const atOnce = required(reference, 'logits.len164');
    expect(largestDifference(data, atOnce)).toBeGreaterThan(1);
    model.close();
  },
);
