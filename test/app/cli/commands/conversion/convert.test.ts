import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon, golden } from '../../../../support/addon.ts';
import { readingLlama } from '../../../../support/conversion/reading-llama.ts';
import { answered, longhand } from '../../../../support/core/cli.ts';
import {
  asFloats,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../../../support/models/formats.ts';
import { checkLogits, largestDifference, readCase } from '../../../../support/models/golden.ts';
import { starter } from '../../../../support/models/models.ts';

const base = join(golden, 'mha2mla/base');
const published = readdirSync(join(golden, 'mha2mla')).filter((name) => name !== 'base' && !name.endsWith('.json'));
type Facts = { factorisation_error: Record<string, { relative_frobenius: number }> };
type Card = {
  cache_bytes_per_token: number;
  source_cache_bytes_per_token: number;
  factorisation_error: { layer: number; [part: string]: number }[];
  quality: { kld: number; verdict: string };
  error?: { message: string; code: string };
};

const argumentsOf = (name: string): string[] => {
  const [, rope = '', pairs = '', svd = '', rank = ''] = /^(.*)_r(\d+)_(\w+)_rank(\d+)$/.exec(name) ?? [];
  const calibration = rope === '2-norm' ? ['--calibration', join(base, 'expected.json')] : [];
  return ['--rope', rope, '--pairs', pairs, '--svd', svd, '--rank', rank, ...calibration];
};
const convert = (folder: string, ...args: string[]) =>
  answered<Card>(folder, ['convert', '--mla', '--model', base, '--out', 'b', ...args]);
const read = (folder: string) => readSafetensors(readFileSync(join(folder, 'model.safetensors')));
const floats = (tensors: Record<string, StoredTensor>, name: string) => {
  const found = tensors[`model.layers.1.self_attn.${name}.weight`];
  if (found === undefined) throw new Error(`there is no ${name}`);
  const [rows = 0, columns = 0] = found.shape;
  return { rows, columns, values: asFloats(found.bytes) };
};
function product(tensors: Record<string, StoredTensor>, up: string, down: string): Float32Array {
  const [a, b] = [floats(tensors, up), floats(tensors, down)];
  const out = new Float32Array(a.rows * b.columns);
  for (let i = 0; i < a.rows; i++) {
    for (let j = 0; j < b.columns; j++) {
      let sum = 0;
      for (let k = 0; k < b.rows; k++) sum += (a.values[i * a.columns + k] ?? 0) * (b.values[k * b.columns + j] ?? 0);
      out[i * b.columns + j] = sum;
    }
  }
  return out;
}

test.each(['F16', 'BF16'] as const)('what is stored in %s stays in it, with numbers of the same size', async (type) => {
  const config = readFileSync(join(base, 'config.json'));
  const from = (values: Float32Array) =>
    type === 'F16' ? new Float16Array(values) : Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);
  const halves = Object.entries(read(base)).map(([name, { shape, bytes }]) => {
    const { buffer } = from(Float32Array.from(asFloats(bytes)));
    return [name, { dtype: type, shape, bytes: new Uint8Array(buffer) }] as const;
  });
  const stored = safetensors(Object.fromEntries(halves));
  const half = temporaryFolder({ 'config.json': config, 'model.safetensors': stored });
  const [folder, whole] = [temporaryFolder(), temporaryFolder()];
  const given = argumentsOf('high_r2_joint_rank8');
  await answered<Card>(folder, ['convert', '--mla', '--model', half, '--out', 'b', ...given]);
  await convert(whole, ...given);
  const size = (values: ArrayLike<number>) => Math.sqrt(Array.from(values).reduce((sum, one) => sum + one * one, 0));
  const wanted = read(join(whole, 'b'));
  for (const [name, { dtype, bytes }] of Object.entries(read(join(folder, 'b')))) {
    expect([name, dtype]).toEqual([name, type]);
    const copy = new Uint8Array(bytes).buffer;
    const values =
      type === 'F16'
        ? new Float16Array(copy)
        : new Float32Array(Uint32Array.from(new Uint16Array(copy), (bits) => bits << 16).buffer);
    const ratio = size(values) / size(asFloats(wanted[name]?.bytes ?? new Uint8Array()));
    expect(ratio, name).toBeCloseTo(1, 1);
  }
});

describe.each(published)('%s', (name) => {
  test.each(['new', 'published'])('equals the reference converter, layout %s', { timeout: 30_000 }, async (layout) => {
    const folder = temporaryFolder();
    const card = await convert(folder, ...argumentsOf(name), '--layout', layout);
    expect(card.error).toBeUndefined();
    const reference = readCase(`mha2mla/${name}`);
    const facts = JSON.parse(readFileSync(join(reference.folder, 'expected.json'), 'utf8')) as Facts;
    for (const { layer, ...parts } of card.factorisation_error) {
      for (const [part, error] of Object.entries(parts)) {
        const wanted = facts.factorisation_error[`layer${layer}.${part}`]?.relative_frobenius;
        expect(error).toBeCloseTo(wanted ?? Number.NaN, 5);
      }
    }
    const model = await addon.load(join(folder, 'b'), { device: 'cpu' });
    await checkLogits(model, reference);
    model.close();
    if (layout !== 'new') return;
    const [made, theirs] = [read(join(folder, 'b')), read(reference.folder)];
    expect(Object.keys(made).sort()).toEqual(Object.keys(theirs).sort());
    const down = name.includes('joint') ? ['down_kv', 'down_kv'] : ['down_k', 'down_v'];
    for (const [up, with_] of [
      ['up_k', down[0]],
      ['up_v', down[1]],
    ]) {
      const both = [made, theirs].map((tensors) => product(tensors, `kv_proj.${up}`, `kv_proj.${with_}`));
      expect(largestDifference(both[0] ?? new Float32Array(1), both[1] ?? new Float32Array())).toBeLessThan(1e-5);
    }
    for (const same of ['q_proj', 'k_r_proj']) expect(floats(made, same)).toEqual(floats(theirs, same));
  });
});

test.each(['split', 'joint'])('with every pair and every rank it is the original, %s', async (svd) => {
  const folder = temporaryFolder();
  const { error } = await convert(folder, '--rope', 'low', '--pairs', '8', '--svd', svd, '--rank', '16');
  expect(error).toBeUndefined();
  const { prompts } = JSON.parse(readFileSync(join(base, 'expected.json'), 'utf8')) as {
    prompts: Record<string, number[]>;
  };
  const expected = readSafetensors(readFileSync(join(base, 'expected.safetensors')));
  const model = await addon.load(join(folder, 'b'), { device: 'cpu' });
  const session = model.createSession({ path: 'exact' });
  for (const [name, ids] of Object.entries(prompts)) {
    const { data } = await session.logits(Int32Array.from(ids), { all: true });
    expect(largestDifference(data, asFloats(expected[`logits.${name}`]?.bytes ?? new Uint8Array()))).toBeLessThan(2e-4);
  }
  model.close();
});

describe('fitted layer by layer to the original', () => {
  const calibration = ['--calibration', join(base, 'expected.json')];
  const ids = Int32Array.from({ length: 60 }, (_, i) => 3 + ((i * 37) % 120));
  const logitsOf = async (path: string) => {
    const model = await addon.load(path, { device: 'cpu' });
    const { data } = await model.createSession({ path: 'exact' }).logits(ids, { all: true });
    model.close();
    return data;
  };

  test.each(['new', 'published'])('with every pair and every rank it is the original, layout %s', async (layout) => {
    const folder = temporaryFolder();
    const all = ['--rope', '2-norm', '--pairs', '8', '--svd', 'regression', '--rank', '16', '--layout', layout];
    expect((await convert(folder, ...all, ...calibration)).error).toBeUndefined();
    expect(largestDifference(await logitsOf(join(folder, 'b')), await logitsOf(base))).toBeLessThan(2e-3);
    expect(readdirSync(join(folder, 'b'))).not.toContain('layer');
  });

  test('with heads that are together wider than the states', async () => {
    const folder = temporaryFolder();
    const model = await readingLlama(temporaryFolder(), { dim: 24 });
    const all = ['--rope', '2-norm', '--pairs', '12', '--svd', 'regression', '--rank', '24', '--skip-quality'];
    const args = ['--mla', '--model', model, '--out', 'b', ...all, ...calibration];
    expect((await answered<Card>(folder, ['convert', ...args])).error).toBeUndefined();
    expect(largestDifference(await logitsOf(join(folder, 'b')), await logitsOf(model))).toBeLessThan(2e-3);
  });

  test('on a text it has not seen it is nearer to the original than whitened factors', {
    timeout: 120_000,
  }, async () => {
    const folder = temporaryFolder();
    const model = await readingLlama(temporaryFolder());
    const made = (out: string, ...more: string[]) => {
      const args = ['--rope', '2-norm', '--pairs', '2', '--rank', '4', '--out', out, ...more];
      return answered<Card>(folder, ['convert', '--mla', '--model', model, ...args]);
    };
    const white = await made('white', '--svd', 'whitened');
    const fitted = await made('fitted', '--svd', 'regression', '--layout', 'published');
    expect(fitted.quality.kld).toBeLessThan(0.8 * white.quality.kld);
    const own = await made('own', '--svd', 'regression', '--layout', 'new', '--by-layer');
    expect(own.cache_bytes_per_token).toBe(fitted.cache_bytes_per_token);
    const { mla } = JSON.parse(readFileSync(join(folder, 'own/config.json'), 'utf8'));
    expect(mla.layer_low_ranks.reduce((sum: number, rank: number) => sum + rank, 0)).toBe(2 * 4);
    expect(mla.layer_low_ranks[0]).not.toBe(4);
    expect(Number.isFinite(own.quality.kld)).toBe(true);
  });
});

test('whitening by what attention reads gives logits nearer to the original', async () => {
  const folder = temporaryFolder();
  const args = ['--rope', 'high', '--pairs', '7', '--rank', '14'];
  await convert(folder, ...args, '--svd', 'joint', '--out', 'joint');
  const calibration = ['--calibration', join(base, 'expected.json')];
  await convert(folder, ...args, '--svd', 'whitened', '--out', 'white', ...calibration);
  const ids = Int32Array.from({ length: 60 }, (_, i) => 3 + ((i * 37) % 120));
  const of = async (path: string) => {
    const model = await addon.load(path, { device: 'cpu' });
    const { data } = await model.createSession({ path: 'exact' }).logits(ids, { all: true });
    model.close();
    return data;
  };
  const [original, joint, white] = await Promise.all([base, join(folder, 'joint'), join(folder, 'white')].map(of));
  const off = (data?: Float32Array) =>
    (data ?? new Float32Array()).reduce((sum, value, i) => sum + (value - (original?.[i] ?? 0)) ** 2, 0);
  expect(off(joint)).toBeGreaterThan(0);
  expect(off(white)).toBeLessThan(off(joint));
});

test('what it cost is measured and said in a word', { timeout: 60_000 }, async () => {
  const folder = temporaryFolder();
  const args = ['--rope', '2-norm', '--pairs', '2', '--svd', 'whitened', '--rank', '2', '--out', 'b'];
  const { code, out, err } = await longhand(folder, [
    'convert',
    '--mla',
    '--model',
    await readingLlama(temporaryFolder()),
    ...args,
  ]);
  expect(code, err).toBe(0);
  expect(out).toMatch(/context memory per token: 48 B, 19 % of 256 B/);
  expect(out).toMatch(/(weaker|different): divergence \(KLD\) \d/);
});

describe('what is refused leaves nothing behind', () => {
  const good = ['--rope', 'high', '--pairs', '2', '--svd', 'joint', '--rank', '4'];
  test.each([
    [['--model', base, '--out', 'b', ...good], /--mla is missing/],
    [['--mla', '--model', base, '--out', 'b', '--pairs', '2'], /give --model PATH, --out PATH, --pairs R and --rank K/],
    [['--mla', '--model', base, '--out', 'b', ...good, '--pairs', '9'], /got 9, expected 1 to 8 for heads of 16/],
    [['--mla', '--model', base, '--out', 'b', ...good, '--rank', '29'], /got 29, expected 1 to 28 per head/],
    [
      ['--mla', '--model', base, '--out', 'b', ...good, '--rope', 'uniform', '--pairs', '3'],
      /expected one of 1, 2, 4, 8/,
    ],
    [['--mla', '--model', base, '--out', 'b', ...good, '--rope', 'all'], /high or low or uniform or 2-norm/],
    [
      ['--mla', '--model', base, '--out', 'b', ...good, '--calibration', 'x'],
      /goes with --rope 2-norm and --svd whitened or regression/,
    ],
    [['--mla', '--model', base, '--out', 'b', ...good, '--by-layer'], /goes with --svd regression and --layout new/],
    [['--mla', '--model', base, '--out', '.', ...good], /already exists; choose another name/],
  ])('%j', async (args, message) => {
    const folder = temporaryFolder();
    const { code, error } = await answered<Card>(folder, ['convert', ...args]);
    expect(code).toBe(2);
    expect(error?.message).toMatch(message);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    [starter, /got a model of the family qwen3_5/],
    [join(golden, 'mha2mla/high_r2_split_rank8'), /that has not been converted yet/],
    [join(golden, 'gguf_models/llama/model-f32.gguf'), /got a \.gguf file/],
  ])('%s', async (model, message) => {
    const folder = temporaryFolder();
    const { error } = await answered<Card>(folder, ['convert', '--mla', '--model', model, '--out', 'b', ...good]);
    expect(error?.message).toMatch(message);
    expect(readdirSync(folder)).toEqual([]);
  });
});
