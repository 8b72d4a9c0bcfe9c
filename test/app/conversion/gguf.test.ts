import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { modelTextFromFiles, modelTextFromGguf } from '../../../app/text/model-text.ts';
import { addon, golden } from '../../support/addon.ts';
import { deviation, logitsOf } from '../../support/conversion/logits.ts';
import { answered, longhand } from '../../support/core/cli.ts';
import {
  asFloats,
  f32,
  formats,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';
import { type Architecture, type HubConfig, toGguf } from '../../support/models/gguf-conversion.ts';

type Card = { out: string; bytes: number; left_out: string[]; error?: { message: string } };

const folders: [name: string, path: string][] = [
  ['llama', 'llama/gqa_tied'],
  ['llama with scaled positions', 'llama/rope_llama3'],
  ['qwen2', 'qwen2/biases_tied'],
  ['qwen3', 'qwen3/hd128_untied'],
  ['qwen35', 'qwen3_5/dense_gqa_mixed'],
  ['qwen35 of real shapes', 'qwen3_5/real_head_dims'],
  ['lfm2', 'lfm2/auto_adjust'],
];

test.each(folders)(
  '%s becomes a file that computes the same but for eight bits',
  { timeout: 30_000 },
  async (_name, path) => {
    const here = temporaryFolder();
    const card = await answered<Card>(here, [
      'quantize',
      '--model',
      join(golden, path),
      '--out',
      'b',
      '--format',
      'gguf:Q8_0',
    ]);
    expect(card.error).toBeUndefined();
    expect(card.out).toBe(join(here, 'b.gguf'));
    const facts = await addon.inspect(card.out);
    expect(facts.problems).toEqual([]);
    expect(Object.keys(facts.types)).toContain('q8_0');
    // A row, a head or a sign in the wrong place is off by one and more.
    expect(deviation(await logitsOf(join(golden, path)), await logitsOf(card.out))).toBeLessThan(0.06);
  },
);

test.each([
  ['qwen2', 'qwen2/biases_tied'],
  ['qwen35', 'qwen3_5/dense_gqa_mixed'],
  ['lfm2', 'lfm2/no_adjust'],
] satisfies [Architecture, string][])('%s has the names and numbers of llama.cpp', async (architecture, path) => {
  const folder = join(golden, path);
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const tensors = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
  const here = temporaryFolder();
  const theirs = join(here, 'theirs.gguf');
  writeFileSync(theirs, toGguf(architecture, { ...config, ...config.text_config } as HubConfig, tensors));
  const { out } = await answered<Card>(here, ['quantize', '--model', folder, '--out', 'ours', '--format', 'gguf:Q4_0']);
  // What is not made smaller is the same to the last bit; the rest is theirs after the same rounding.
  const again = await answered<Card>(here, ['quantize', '--model', theirs, '--out', 'again', '--format', 'gguf:Q4_0']);
  const [ours, expected] = [formats.openCheckpoint(out), formats.openCheckpoint(again.out)];
  const sorted = (facts: typeof ours) =>
    facts.tensors.map(({ name, type, shape }) => `${name} ${type} ${shape}`).sort();
  expect(sorted(ours)).toEqual(sorted(expected));
  for (const { name } of ours.tensors)
    expect(Buffer.from(formats.dequantise(out, name).buffer), name).toEqual(
      Buffer.from(formats.dequantise(again.out, name).buffer),
    );
  const { 'general.name': _, ...keys } = (await addon.inspect(out)).config as Record<string, unknown>;
  const others = (await addon.inspect(theirs)).config as Record<string, unknown>;
  for (const [key, value] of Object.entries(others)) expect(keys[key], key).toEqual(value);
});

const ONE_ADDED = /(input_layernorm|post_attention_layernorm|model\.norm|[qk]_norm)\.weight$/;

/** A model as mlx-lm writes it: channels last in convolutions, other names, and one added to the norms of Qwen3.5. */
function asMlx(path: string): string {
  const folder = join(golden, path);
  const qwen = path.startsWith('qwen');
  const tensors = Object.entries(readSafetensors(readFileSync(join(folder, 'model.safetensors')))).map(
    ([name, { dtype, shape, bytes }]): [string, StoredTensor] => {
      const [channels = 0, , taps = 0] = shape;
      if (/conv(1d)?\.weight$/.test(name)) return [mlxName(name, qwen), { dtype, shape: [channels, taps, 1], bytes }];
      const added = qwen && ONE_ADDED.test(name) ? f32(...asFloats(bytes).map((value) => value + 1)) : bytes;
      return [mlxName(name, qwen), { dtype, shape, bytes: added }];
    },
  );
  return temporaryFolder({
    'config.json': readFileSync(join(folder, 'config.json')),
    'model.safetensors': safetensors(Object.fromEntries(tensors)),
  });
}
const mlxName = (name: string, qwen: boolean) => (qwen ? `language_model.${name}` : name);

test.each([
  ['qwen35', 'qwen3_5/dense_tied'],
  ['lfm2', 'lfm2/auto_adjust'],
])('%s of mlx-lm becomes the file that the published one becomes', { timeout: 30_000 }, async (_name, path) => {
  const made = async (model: string) => {
    const here = temporaryFolder();
    const { out, error } = await answered<Card>(here, [
      ...['quantize', '--model', model, '--out', 'b', '--format', 'gguf:Q8_0', '--skip-quality'],
    ]);
    expect(error).toBeUndefined();
    return formats.openCheckpoint(out).tensors.map(({ name, shape }) => {
      const values = formats.dequantise(out, name);
      return [name, shape, createHash('sha256').update(values).digest('hex')];
    });
  };
  expect((await made(asMlx(path))).toSorted()).toEqual((await made(join(golden, path))).toSorted());
});

describe.each(['llama', 'qwen3', 'qwen35', 'lfm2'])('a file of %s', (name) => {
  const file = join(golden, `gguf_models/${name}/model-f32.gguf`);

  test.each(['Q4_K', 'Q8_0'])('becomes one of %s with the same metadata', { timeout: 30_000 }, async (type) => {
    const here = temporaryFolder();
    const card = await answered<Card>(here, [
      'quantize',
      '--model',
      file,
      '--out',
      'b.gguf',
      '--format',
      `gguf:${type}`,
    ]);
    expect(card.error).toBeUndefined();
    const { 'general.file_type': theirs, ...before } = await addon.ggufMetadata(file);
    const {
      'general.file_type': ours,
      'general.quantization_version': version,
      ...after
    } = await addon.ggufMetadata(card.out);
    expect(after).toEqual(before);
    expect(ours).not.toBe(theirs);
    expect(version).toBe(2);
    const off = deviation(await logitsOf(file), await logitsOf(card.out));
    expect(off).toBeGreaterThan(0);
    expect(off).toBeLessThan(type === 'Q8_0' ? 0.06 : 0.8);
    expect(JSON.parse(readFileSync(join(here, 'b.quality.json'), 'utf8'))).toMatchObject({ format: `gguf:${type}` });
  });
});

test.each([
  ['llama', 'AFFINE'],
  ['qwen3', 'AFFINE'],
])('a file of %s becomes a folder as MLX has it', { timeout: 30_000 }, async (name, type) => {
  const here = temporaryFolder();
  const file = join(golden, `gguf_models/${name}/model-f32.gguf`);
  const card = await answered<Card>(here, ['quantize', '--model', file, '--out', 'b', '--bits', '8', '--group', '32']);
  expect(card.error).toBeUndefined();
  const { problems, tensors } = await addon.inspect(join(here, 'b'));
  expect(problems).toEqual([]);
  expect(tensors.find((tensor) => tensor.name === 'model.layers.0.self_attn.k_proj.weight')?.type).toBe(type);
  expect(deviation(await logitsOf(file), await logitsOf(join(here, 'b')))).toBeLessThan(0.06);
  const theirs = modelTextFromFiles({
    tokenizer: JSON.parse(readFileSync(join(golden, 'gguf_models', name, 'tokenizer.json'), 'utf8')),
  });
  const ours = modelTextFromFiles({ tokenizer: JSON.parse(readFileSync(join(here, 'b', 'tokenizer.json'), 'utf8')) });
  expect(ours.tokenizer.encodeText('a plain text, 12')).toEqual(theirs.tokenizer.encodeText('a plain text, 12'));
});

test('what has no way back is named', async () => {
  const file = join(golden, 'gguf_models/qwen35/model-f32.gguf');
  const { error } = await answered<Card>(temporaryFolder(), ['quantize', '--model', file, '--out', 'b']);
  expect(error?.message).toMatch(/architecture qwen35; MLX takes llama, qwen2, qwen3, gguf:TYPE takes all/);
});

test.each(['bpe_llama3', 'bpe_qwen2', 'bpe_qwen35', 'bpe_smollm'])('the tokenizer %s reads as before', async (name) => {
  const tokenizer = join(golden, 'tokenizers', name, 'tokenizer.json');
  const here = temporaryFolder();
  const made = wide(720);
  writeFileSync(join(made, 'tokenizer.json'), readFileSync(tokenizer));
  const { out, error } = await answered<Card>(here, [
    'quantize',
    '--model',
    made,
    '--out',
    'b',
    '--format',
    'gguf:Q8_0',
    '--skip-quality',
  ]);
  expect(error).toBeUndefined();
  const theirs = modelTextFromFiles({ tokenizer: JSON.parse(readFileSync(tokenizer, 'utf8')) });
  const ours = modelTextFromGguf(await addon.ggufMetadata(out));
  for (const text of [
    "It's 2024, don't panic: naïve ÄÖÜ 東京 12345\n\n  x = y",
    '<|im_end|> plain',
    'tabs\t\tand   spaces ',
  ])
    expect(ours.tokenizer.encodeText(text)).toEqual(theirs.tokenizer.encodeText(text));
});

describe('a tokenizer.json that differs from the published ones', () => {
  const converted = async (change: (tokenizer: Record<string, unknown>) => void) => {
    const tokenizer = JSON.parse(readFileSync(join(golden, 'tokenizers/bpe_smollm/tokenizer.json'), 'utf8'));
    change(tokenizer);
    const model = wide(720);
    writeFileSync(join(model, 'tokenizer.json'), JSON.stringify(tokenizer));
    const asked = ['quantize', '--model', model, '--out', 'b', '--format', 'gguf:Q8_0', '--skip-quality'];
    return { tokenizer, ...(await answered<Card>(temporaryFolder(), asked)) };
  };

  test('is refused where it does not split words: as GPT-2 it would read text in other tokens', async () => {
    const { code, error } = await converted((tokenizer) => {
      tokenizer.pre_tokenizer = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
    });
    expect(code).toBe(1);
    expect(error?.message).toMatch(/splits text in a way that has no name in GGUF/);
  });

  test('may have no tokens of its own beside its vocabulary', async () => {
    const { tokenizer, out, error } = await converted((json) => void delete json.added_tokens);
    expect(error).toBeUndefined();
    const theirs = modelTextFromFiles({ tokenizer });
    const ours = modelTextFromGguf(await addon.ggufMetadata(out));
    expect(ours.tokenizer.encodeText('a plain text, 12')).toEqual(theirs.tokenizer.encodeText('a plain text, 12'));
  });
});

/** A small Llama with as many tokens as asked for. */
function wide(vocabulary: number): string {
  const source = join(golden, 'mha2mla/base');
  const tensors = readSafetensors(readFileSync(join(source, 'model.safetensors')));
  const folder = temporaryFolder();
  const bytes = Buffer.alloc(vocabulary * 64 * 4);
  tensors['model.embed_tokens.weight'] = { dtype: 'F32', shape: [vocabulary, 64], bytes };
  writeFileSync(join(folder, 'model.safetensors'), safetensors(tensors));
  const config = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, vocab_size: vocabulary }));
  return folder;
}

describe('what is refused', () => {
  const llama = join(golden, 'llama/gqa_tied');
  test.each([
    [['--format', 'gguf:Q3_K'], /got "gguf:Q3_K", expected one of mlx, gguf:Q4_0, gguf:Q4_K/],
    [['--format', 'gguf:Q4_0', '--bits', '5'], /got 5, but Q4_0 has 4/],
    [['--format', 'gguf:Q4_0', '--method', 'hqq'], /got hqq; with --format gguf:Q4_0, expected rtn or weighted/],
  ])('%j', async (args, message) => {
    const { code, error } = await answered<Card>(temporaryFolder(), [
      'quantize',
      '--model',
      llama,
      '--out',
      'b',
      ...args,
    ]);
    expect(code).toBe(2);
    expect(error?.message).toMatch(message);
  });

  test('a family that has no names here', async () => {
    const args = ['quantize', '--model', join(golden, 'minicpm_sala/gap'), '--out', 'b', '--format', 'gguf:Q4_0'];
    const { code, err } = await longhand(temporaryFolder(), args);
    expect(code).toBe(1);
    expect(err).toMatch(/minicpm_sala came; allowed for GGUF are llama, qwen2/);
  });
});
