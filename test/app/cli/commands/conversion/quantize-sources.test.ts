// What `quantize` reads: weights in several files, in fp8, and models that are larger than the memory.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { storable } from '../../../../../app/conversion/mlx.ts';
import { planOf } from '../../../../../app/conversion/plan.ts';
import { golden, repository } from '../../../../support/addon.ts';
import { deviation, logitsOf } from '../../../../support/conversion/logits.ts';
import { longhand } from '../../../../support/core/cli.ts';
import {
  asFloats,
  f32,
  formats,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../../../support/models/formats.ts';
import { someTokens } from '../../../../support/models/models.ts';
import { fusedFolder } from '../../../../support/models/qwen3-next.ts';

const llama = join(golden, 'llama/gqa_tied');
const stored = readSafetensors(readFileSync(join(llama, 'model.safetensors')));

/** A folder with the configuration of `llama` and these files. */
function folderOf(files: Record<string, Record<string, StoredTensor>>, config: object = {}): string {
  const folder = join(temporaryFolder(), 'model');
  mkdirSync(folder);
  const own = JSON.parse(readFileSync(join(llama, 'config.json'), 'utf8'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...own, ...config }));
  const named = Object.entries(files);
  for (const [name, tensors] of named) writeFileSync(join(folder, name), safetensors(tensors));
  if (named.length > 1) {
    const map = named.flatMap(([name, tensors]) => Object.keys(tensors).map((tensor) => [tensor, name]));
    writeFileSync(
      join(folder, 'model.safetensors.index.json'),
      JSON.stringify({ metadata: {}, weight_map: Object.fromEntries(map) }),
    );
  }
  return folder;
}

const digest = (values: Float32Array | Uint8Array) => createHash('sha256').update(values).digest('hex');

/** A digest of each tensor of the result, by name. */
async function quantised(folder: string, form: readonly string[]): Promise<Record<string, string>> {
  const here = temporaryFolder({ 'tokens.json': JSON.stringify([[...someTokens(200)]]) });
  const ran = await longhand(here, ['quantize', '--model', folder, '--out', 'b', '--skip-quality', ...form]);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  if (form[0] === '--format') {
    const file = join(here, 'b.gguf');
    const { tensors } = formats.openCheckpoint(file);
    return Object.fromEntries(tensors.map(({ name }) => [name, digest(formats.dequantise(file, name))]));
  }
  const tensors = Object.entries(readSafetensors(readFileSync(join(here, 'b', 'model.safetensors'))));
  return Object.fromEntries(tensors.map(([name, { bytes }]) => [name, digest(bytes)]));
}

const forms = [
  ['MLX', ['--bits', '4', '--group', '32', '--method', 'rtn']],
  ['error feedback', ['--bits', '3', '--group', '32', '--method', 'gptq', '--calibration', 'tokens.json']],
  ['GGUF', ['--format', 'gguf:Q8_0']],
] as const;

test.each(forms)('%s from weights in three files is that from one', { timeout: 60_000 }, async (_name, form) => {
  const files: Record<string, Record<string, StoredTensor>> = {};
  // Neither in order nor a layer a file.
  for (const [at, [name, tensor]] of Object.entries(stored).toSorted().entries()) {
    const file = `model-0000${((at * 7) % 3) + 1}-of-00003.safetensors`;
    files[file] = { ...files[file], [name]: tensor };
  }
  expect(Object.keys(files)).toHaveLength(3);
  const [parts, whole] = [folderOf(files), folderOf({ 'model.safetensors': stored })];
  expect(await quantised(parts, form)).toEqual(await quantised(whole, form));
});

test.each(forms)('%s from fp8 is that from the numbers it stands for', { timeout: 60_000 }, async (_name, form) => {
  const eights: Record<string, StoredTensor> = {};
  for (const [name, tensor] of Object.entries(stored)) {
    eights[name] = tensor;
    const [rows = 0, columns = 0] = tensor.shape;
    if (!/_proj\.weight$/.test(name)) continue;
    // Any codes but those of NaN; the scales differ from block to block, as published files have them.
    const codes = asFloats(tensor.bytes).map((value) => (Math.abs(value) * 1e6) % 127);
    const bytes = Uint8Array.from(codes, (code, at) => Math.floor(code) | ((at % 3 === 0 ? 1 : 0) << 7));
    eights[name] = { dtype: 'F8_E4M3', shape: tensor.shape, bytes };
    const blocks = [Math.ceil(rows / 16), Math.ceil(columns / 32)];
    const scales = Array.from({ length: (blocks[0] ?? 0) * (blocks[1] ?? 0) }, (_, at) => 1e-3 * (1 + (at % 5)));
    eights[`${name}_scale_inv`] = { dtype: 'F32', shape: blocks, bytes: f32(...scales) };
  }
  const fp8 = folderOf(
    { 'model.safetensors': eights },
    { quantization_config: { quant_method: 'fp8', weight_block_size: [16, 32] } },
  );
  const plain: Record<string, StoredTensor> = {};
  for (const [name, tensor] of Object.entries(eights)) {
    if (name.endsWith('_scale_inv')) continue;
    plain[name] = tensor;
    if (tensor.dtype !== 'F8_E4M3') continue;
    const bits = new Uint32Array(formats.dequantise(fp8, name).buffer);
    plain[name] = {
      ...tensor,
      dtype: 'BF16',
      bytes: new Uint8Array(Uint16Array.from(bits, (word) => word >>> 16).buffer),
    };
  }
  expect(await quantised(fp8, form)).toEqual(await quantised(folderOf({ 'model.safetensors': plain }), form));
});

test('experts that have a tensor each become the stacks of those in one', { timeout: 60_000 }, async () => {
  const source = join(golden, 'qwen3_5_moe/top3');
  const made = (file: string) =>
    quantised(
      temporaryFolder({
        'config.json': readFileSync(join(source, 'config.json')),
        'model.safetensors': readFileSync(join(source, file)),
      }),
      ['--bits', '4', '--group', '32', '--method', 'rtn'],
    );
  const packed = await made('model.safetensors');
  expect(Object.keys(packed)).toContain('model.layers.0.mlp.switch_mlp.gate_proj.weight');
  expect(await made('model_per_expert.safetensors')).toEqual(packed);
});

/** LFM2 MoE with rows that are whole groups, and a tensor for each expert, as it is published. */
function lfm2Moe(): string {
  const source = join(golden, 'lfm2_moe/top4');
  const config = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8'));
  const wider = { hidden_size: 64, moe_intermediate_size: 32, intermediate_size: 96 };
  const sizes = new Map([
    [config.hidden_size, wider.hidden_size],
    [3 * config.hidden_size, 3 * wider.hidden_size],
    [config.moe_intermediate_size, wider.moe_intermediate_size],
    // Heads grow with the state, and there are half as many of keys and values.
    [config.hidden_size / config.num_attention_heads, wider.hidden_size / config.num_attention_heads],
  ]);
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32 - 0.5;
  };
  const tensors = Object.entries(readSafetensors(readFileSync(join(source, 'model.safetensors')))).map(
    ([name, { shape }]): [string, StoredTensor] => {
      const narrow = /[kv]_proj/.test(name);
      const size = shape.map((one, at) => (narrow && at === 0 ? wider.hidden_size / 2 : (sizes.get(one) ?? one)));
      const count = size.reduce((product, one) => product * one, 1);
      const norm = /norm/.test(name);
      const values = Array.from({ length: count }, () => (norm ? 1 : random() * 0.5));
      return [name, { dtype: 'F32', shape: size, bytes: f32(...values) }];
    },
  );
  return temporaryFolder({
    'config.json': JSON.stringify({ ...config, ...wider }),
    'model.safetensors': safetensors(Object.fromEntries(tensors)),
  });
}

// Where mlx-lm finds stacks of experts in a Qwen3-Next, it takes everything else as it is as well.
test('Qwen3-Next is what mlx-lm makes of it: channels last, one added to norms, no head that drafts', async () => {
  const source = fusedFolder(join(golden, 'qwen3_5_moe/top3'));
  const published = readSafetensors(readFileSync(join(source, 'model.safetensors')));
  const [norm, conv] = ['model.layers.3.self_attn.q_norm.weight', 'model.layers.0.linear_attn.conv1d.weight'];
  const here = temporaryFolder();
  const ran = await longhand(here, [
    'quantize',
    '--model',
    source,
    '--out',
    'b',
    '--bits',
    '8',
    '--group',
    '32',
    '--method',
    'rtn',
    '--skip-quality',
  ]);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  const made = readSafetensors(readFileSync(join(here, 'b', 'model.safetensors')));
  const [channels, , taps] = published[conv]?.shape ?? [];
  expect(made[conv]?.shape).toEqual([channels, taps, 1]);
  const added = asFloats(published[norm]?.bytes ?? new Uint8Array()).map((value) => value + 1);
  expect(asFloats(made[norm]?.bytes ?? new Uint8Array())).toEqual(added);
  const tensors = Object.entries(published).map(([name, { dtype, shape }]) => ({ name, type: dtype, shape }));
  const draft = { name: 'mtp.fc.weight', type: 'F32', shape: [64, 128] };
  expect(storable(planOf([...tensors, draft], 8, 32), {}).left.map(({ name }) => name)).toEqual([draft.name]);
  expect(deviation(await logitsOf(source), await logitsOf(join(here, 'b')))).toBeLessThan(0.05);
});

// For Llama mlx-lm reads "rope_theta" and "rope_scaling", which transformers 5 no longer writes.
test('positions stand in the configuration where other programs read them, too', async () => {
  const here = temporaryFolder();
  const source = join(golden, 'llama/rope_llama3');
  const asked = ['--bits', '8', '--group', '32', '--method', 'rtn', '--skip-quality'];
  const ran = await longhand(here, ['quantize', '--model', source, '--out', 'b', ...asked]);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  const config = JSON.parse(readFileSync(join(here, 'b', 'config.json'), 'utf8'));
  expect(config.rope_theta).toBe(config.rope_parameters.rope_theta);
  expect(config.rope_scaling).toEqual(config.rope_parameters);
  expect(config.rope_scaling.rope_type).toBe('llama3');
  expect(deviation(await logitsOf(source), await logitsOf(join(here, 'b')))).toBeLessThan(0.06);
});

describe('LFM2 MoE', () => {
  const forms = [
    ['rounding', ['--bits', '8', '--method', 'rtn']],
    ['a text', ['--bits', '8', '--method', 'weighted', '--calibration', 'tokens.json']],
    ['error feedback', ['--bits', '8', '--method', 'gptq', '--calibration', 'tokens.json']],
    ['mixed', ['--bits', '4', '--method', 'mixed', '--calibration', 'tokens.json', '--target-size', '0.00026']],
  ] as const;
  // mlx-lm gives these names to the matrices of a published file, but not to their scales: other names do not open there.
  test.each(forms)('has the names of mlx-lm and computes the same: %s', { timeout: 60_000 }, async (_name, form) => {
    const source = lfm2Moe();
    const here = temporaryFolder({ 'tokens.json': JSON.stringify([[...someTokens(200)]]) });
    const asked = [...form, '--group', '32', '--skip-quality'];
    const ran = await longhand(here, ['quantize', '--model', source, '--out', 'b', ...asked]);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    const { tensors, config } = formats.openCheckpoint(join(here, 'b'));
    const names = new Set(tensors.map(({ name }) => name));
    for (const module of ['layers.0.feed_forward', 'layers.4.feed_forward.switch_mlp'])
      for (const leaf of ['gate_proj', 'up_proj', 'down_proj'])
        expect(names).toContain(`model.${module}.${leaf}.weight`);
    expect([...names].filter((name) => /experts\.\d|\.w[123]\./.test(name))).toEqual([]);
    const relative = deviation(await logitsOf(source), await logitsOf(join(here, 'b')));
    // An expert in the place of another is off by one and more.
    expect(relative, JSON.stringify(config.quantization)).toBeLessThan(form[3] === 'mixed' ? 0.3 : 0.05);
  });
});

test.each(['weighted', 'gptq', 'mixed'])(
  'a layer whose inputs are all zero is rounded for itself: %s',
  {
    timeout: 60_000,
  },
  async (method) => {
    const name = 'model.layers.1.self_attn.v_proj.weight';
    const tensors = {
      ...stored,
      [name]: { ...(stored[name] as StoredTensor), bytes: new Uint8Array(stored[name]?.bytes.length ?? 0) },
    };
    const form = ['--bits', '4', '--group', '32', '--method', method, '--calibration', 'tokens.json'];
    const made = await quantised(folderOf({ 'model.safetensors': tensors }), form);
    expect(Object.keys(made)).toContain('model.layers.1.self_attn.o_proj.scales');
  },
);

/** Llama with `layers` of 4.7 MB each, all of them zeros that take no room on disk. */
function large(layers: number): string {
  const [hidden, wide, words] = [512, 1024, 256];
  const shapes: [string, number[]][] = [
    ['model.embed_tokens.weight', [words, hidden]],
    ['model.norm.weight', [hidden]],
  ];
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string, ...shape: number[]) => shapes.push([`model.layers.${layer}.${name}.weight`, shape]);
    of('input_layernorm', hidden);
    of('post_attention_layernorm', hidden);
    for (const name of ['q', 'o']) of(`self_attn.${name}_proj`, hidden, hidden);
    for (const name of ['k', 'v']) of(`self_attn.${name}_proj`, 256, hidden);
    for (const name of ['gate', 'up']) of(`mlp.${name}_proj`, wide, hidden);
    of('mlp.down_proj', hidden, wide);
  }
  let end = 0;
  const entries = shapes.map(([name, shape]) => {
    const begin = end;
    end += 2 * shape.reduce((product, size) => product * size, 1);
    return [name, { dtype: 'BF16', shape, data_offsets: [begin, end] }];
  });
  const folder = join(temporaryFolder(), 'model');
  mkdirSync(folder);
  const config = {
    ...{
      model_type: 'llama',
      vocab_size: words,
      hidden_size: hidden,
      intermediate_size: wide,
      num_hidden_layers: layers,
    },
    ...{ num_attention_heads: 8, num_key_value_heads: 4, head_dim: 64, max_position_embeddings: 2048 },
    ...{ rms_norm_eps: 1e-5, rope_theta: 10_000, tie_word_embeddings: true },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const file = openSync(join(folder, 'model.safetensors'), 'w');
  const head = safetensors({}, () => Object.fromEntries(entries));
  writeSync(file, head);
  ftruncateSync(file, head.length + end);
  closeSync(file);
  return folder;
}

/** The most memory of its own, in MB, that the command had at one time: files that are mapped do not count. */
async function peakOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(repository, 'app/cli/main.ts'), ...args], {
    env: { ...process.env, LONGHAND_ROOT: repository },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let most = 0;
  const look = setInterval(() => {
    try {
      const own = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      most = Math.max(most, Number(own ?? 0) / 1024);
    } catch {
      // It has just ended.
    }
  }, 5);
  const [code] = await once(child, 'exit');
  clearInterval(look);
  expect(code).toBe(0);
  return most;
}

// Only Linux tells apart what a process has of its own and the files that are mapped into it.
test.runIf(process.platform === 'linux').each([
  ['rounding', ['--bits', '4', '--method', 'rtn']],
  ['GGUF', ['--format', 'gguf:Q4_K']],
])('%s takes the memory of some layers, whatever the model has', { timeout: 120_000 }, async (_name, form) => {
  const peak = async (layers: number) =>
    peakOf(['quantize', '--model', large(layers), '--out', join(temporaryFolder(), 'b'), '--skip-quality', ...form]);
  const [small, larger] = [await peak(2), await peak(130)];
  // 128 further layers are 604 MB, and 170 of four bits; what differs is when memory that is no longer used is given back.
  expect(larger - small).toBeLessThan(110);
});
