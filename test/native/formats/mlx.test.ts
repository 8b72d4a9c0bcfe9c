import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { golden } from '../../support/addon.ts';
import {
  f32,
  formats,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const folderOf = (config: object, file: Uint8Array) =>
  temporaryFolder({ 'config.json': JSON.stringify(config), 'model.safetensors': file });

describe('golden models', () => {
  for (const name of ['qwen3_5_4bit', 'qwen3_5_moe_4bit']) {
    const folder = join(golden, 'mlx_models', name);
    test(`${name}: each quantised module is one tensor with the shape of its matrix`, () => {
      const { container, tensors } = formats.openCheckpoint(folder);
      const raw = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
      const { quantization } = json(join(folder, 'config.json'));
      expect(container).toBe('mlx');
      expect(tensors.map((tensor) => tensor.name).sort()).toEqual(
        Object.keys(raw)
          .filter((key) => !/\.(scales|biases)$/.test(key))
          .sort(),
      );
      for (const { name: tensor, type, shape, bytes } of tensors) {
        const module = tensor.replace(/\.weight$/, '');
        const parts = [tensor, `${module}.scales`, `${module}.biases`].map((part) => raw[part]);
        expect(type === 'affine', tensor).toBe(parts[1] !== undefined);
        expect(bytes).toBe(parts.reduce((sum, part) => sum + (part?.bytes.length ?? 0), 0));
        if (type !== 'affine') continue;
        const { bits, group_size } = quantization[module] ?? quantization;
        expect(shape.at(-1)).toBe(((parts[0]?.shape.at(-1) ?? 0) * 32) / bits);
        expect(parts[1]?.shape.at(-1)).toBe((shape.at(-1) ?? 0) / group_size);
      }
    });
  }

  test('a stack of experts keeps its leading dimension', () => {
    const { tensors } = formats.openCheckpoint(join(golden, 'mlx_models', 'qwen3_5_moe_4bit'));
    const stack = tensors.find((tensor) => tensor.name.endsWith('layers.0.mlp.switch_mlp.up_proj.weight'));
    expect(stack).toMatchObject({ type: 'affine', shape: [4, 64, 64] });
  });
});

describe('malformed files of the golden set', () => {
  const { quantization, files } = json(join(golden, 'containers', 'malformed_mlx', 'expected.json'));
  const said: Record<string, RegExp> = {
    'nan_scale.safetensors': /^\[weights\] tensor "l.weight": the scale of group \d+ is not finite/,
    'inf_bias.safetensors': /^\[weights\] tensor "l.weight": the bias of group \d+ is not finite/,
    'missing_biases.safetensors': /^\[mlx\] "l" has no biases/,
    'scales_wrong_shape.safetensors': /^\[mlx\] "l" has scales of shape/,
    'weight_float.safetensors': /^\[mlx\] "l" has a packed weight of type f32; allowed: u32/,
    'columns_not_multiple.safetensors': /^\[mlx\] "l" has 7 words a row: 56 values of 4 bits, .* groups of 64/,
  };
  for (const [file, wrong] of Object.entries(files)) {
    test(`${file}: ${wrong}`, () => {
      const folder = folderOf({ quantization }, readFileSync(join(golden, 'containers', 'malformed_mlx', file)));
      expect(() => formats.verifyWeights(folder)).toThrow(said[file]);
    });
  }
});

const zeros = (dtype: string, shape: number[], width: number): StoredTensor => ({
  dtype,
  shape,
  bytes: new Uint8Array(shape.reduce((a, b) => a * b, width)),
});
const layer = (patch: Record<string, StoredTensor | undefined> = {}): Uint8Array => {
  const tensors = {
    'l.weight': zeros('U32', [2, 8], 4),
    'l.scales': zeros('F32', [2, 1], 4),
    'l.biases': zeros('F32', [2, 1], 4),
    ...patch,
  };
  return safetensors(
    Object.fromEntries(
      Object.entries(tensors).filter((entry): entry is [string, StoredTensor] => entry[1] !== undefined),
    ),
  );
};

describe('per-module configuration', () => {
  const open = (quantization: unknown, file = layer()) =>
    formats.openCheckpoint(folderOf({ quantization } as object, file)).tensors;

  test('an override without numbers takes the defaults of its mode', () => {
    const tensors = open({ bits: 8, group_size: 128, l: {} });
    expect(tensors).toMatchObject([{ name: 'l.weight', type: 'affine', shape: [2, 64] }]);
  });
  test('true is the default of the model, false is a plain module', () => {
    expect(open({ bits: 4, group_size: 64, l: true })).toHaveLength(1);
    const plain = layer({ 'l.weight': zeros('F32', [2, 8], 4), 'l.scales': undefined, 'l.biases': undefined });
    expect(open({ bits: 4, group_size: 64, l: false }, plain)).toMatchObject([{ type: 'f32', shape: [2, 8] }]);
  });
  test('scales without a weight, and biases of a weight without scales, are tensors of their own', () => {
    const file = layer({
      'other.scales': zeros('F32', [2], 4),
      'plain.weight': zeros('F32', [2, 8], 4),
      'plain.biases': zeros('F32', [2], 4),
    });
    const names = open({ bits: 4, group_size: 64 }, file).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['l.weight', 'other.scales', 'plain.biases', 'plain.weight']);
  });
  test('quantization_config serves when quantization is absent, that of other tools does not', () => {
    const read = (config: object) => formats.openCheckpoint(folderOf(config, layer())).container;
    expect(read({ quantization_config: { bits: 4, group_size: 64 } })).toBe('mlx');
    expect(read({ quantization_config: { bits: 4, group_size: 64, quant_method: 'gptq' } })).toBe('safetensors');
  });
  test('a float model written by MLX is known by its metadata', () => {
    const file = safetensors({ w: { dtype: 'F32', shape: [1], bytes: f32(1) } }, (header) => ({
      __metadata__: { format: 'mlx' },
      ...header,
    }));
    expect(formats.openCheckpoint(folderOf({}, file)).container).toBe('mlx');
  });

  const refused: [string, unknown, Uint8Array, RegExp][] = [
    ['7 bits', { bits: 7, group_size: 64 }, layer(), /"quantization.bits" is 7; allowed: 2, 3, 4, 5, 6, 8/],
    ['groups of 48', { bits: 4, group_size: 48 }, layer(), /"quantization.group_size" is 48; allowed: 32, 64, 128/],
    ['a negative group', { bits: 4, group_size: -64 }, layer(), /"quantization.group_size" is not a whole number/],
    ['bits as text', { bits: '4', group_size: 64 }, layer(), /"quantization.bits" is not a whole number/],
    [
      'an unknown mode',
      { mode: 'fp3' },
      layer(),
      /"quantization.mode" is unknown; allowed: affine, mxfp4, mxfp8, nvfp4/,
    ],
    [
      'mxfp4 in groups of 64',
      { mode: 'mxfp4', group_size: 64 },
      layer(),
      /mxfp4 with 4 bits in groups of 64; allowed: 4 bits in groups of 32/,
    ],
    [
      'a module that is a number',
      { bits: 4, group_size: 64, l: 4 },
      layer(),
      /"quantization.l" is neither false nor an object/,
    ],
    ['a block that is a list', [], layer(), /"quantization" is not an object/],
    ['false for a module that has scales', { l: false }, layer(), /config.json says that it is not quantised/],
    ['packed words without scales', {}, layer({ 'l.scales': undefined }), /packed weight \(u32\) but no scales/],
    ['a packed vector', {}, layer({ 'l.weight': zeros('U32', [8], 4) }), /packed weight of shape \[8\]/],
    [
      'integer scales',
      {},
      layer({ 'l.scales': zeros('I32', [2, 1], 4) }),
      /scales of type i32; allowed: f32, f16, bf16/,
    ],
    [
      'scales and biases of two types',
      {},
      layer({ 'l.biases': zeros('BF16', [2, 1], 2) }),
      /scales of type f32 and biases of type bf16/,
    ],
    [
      'float scales for mxfp4',
      { mode: 'mxfp4' },
      layer({ 'l.scales': zeros('F32', [2, 2], 4) }),
      /scales of type f32; allowed for mxfp4: u8/,
    ],
    [
      'a global scale of two numbers',
      { mode: 'nvfp4' },
      layer({ 'l.scales': zeros('U8', [2, 4], 1), 'l.global_scale': zeros('F32', [2], 4) }),
      /global_scale that is not one f32/,
    ],
  ];
  for (const [what, quantization, file, message] of refused) {
    test(`${what} is refused`, () => expect(() => open(quantization, file)).toThrow(message));
  }
});

test('headers alone give the same table as the file', () => {
  for (const name of ['qwen3_5_4bit', 'qwen3_5_moe_4bit']) {
    const folder = join(golden, 'mlx_models', name);
    const raw = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
    const entries = Object.entries(raw).map(([tensor, { dtype, shape }]) => ({ name: tensor, type: dtype, shape }));
    const headers = formats.fromHeaders('mlx', readFileSync(join(folder, 'config.json'), 'utf8'), entries);
    const facts = ({ name: tensor, type, shape, bytes }: (typeof headers.tensors)[number]) => ({
      tensor,
      type,
      shape,
      bytes,
    });
    const byName = (a: { tensor: string }, b: { tensor: string }) => (a.tensor < b.tensor ? -1 : 1);
    expect(headers.tensors.map(facts).sort(byName)).toEqual(
      formats.openCheckpoint(folder).tensors.map(facts).sort(byName),
    );
    expect(headers.tensors.every((tensor) => !tensor.hasData)).toBe(true);
  }
});
