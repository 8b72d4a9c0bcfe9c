// What `quantize` reads: weights in several files, in fp8, and models that are larger than the memory.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { golden, repository } from '../../../../support/addon.ts';
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
