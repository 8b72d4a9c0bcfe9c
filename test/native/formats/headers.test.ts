// Verdicts from headers alone, as they come from the network: nothing bounds the numbers but the reader itself.
import { describe, expect, test } from 'vitest';
import { formats } from '../../support/models/formats.ts';

describe('tables that no disk can hold', () => {
  const cases: [string, 'safetensors' | 'mlx' | 'gguf', string, number[]][] = [
    ['bytes beyond 2^50', 'safetensors', 'F32', [2 ** 30, 2 ** 30]],
    ['elements beyond 2^63', 'gguf', 'Q2_K', [2 ** 40, 2 ** 30]],
    ['a negative dimension', 'safetensors', 'F32', [-1, -1]],
    ['half a block', 'gguf', 'Q4_K', [2, 100]],
    ['a scalar of blocks', 'gguf', 'Q4_0', []],
    ['nine dimensions', 'mlx', 'U32', [1, 1, 1, 1, 1, 1, 1, 1, 1]],
  ];
  for (const [what, container, type, shape] of cases) {
    test(what, () => {
      expect(() => formats.fromHeaders(container, '{}', [{ name: 'w', type, shape }])).toThrow(
        /^\[checkpoint\] tensor "w" has a shape that a tensor of type \w+ cannot have$/,
      );
    });
  }
  test('the same name twice', () => {
    const entry = { name: 'w', type: 'F32', shape: [1] };
    expect(() => formats.fromHeaders('safetensors', '{}', [entry, entry])).toThrow('two tensors are called "w"');
  });
});

test('FP8 is told as the bf16 it becomes, MLX modules as the matrices they are', () => {
  const fp8 = formats.fromHeaders('safetensors', '{}', [
    { name: 'l.weight', type: 'F8_E4M3', shape: [256, 128] },
    { name: 'l.weight_scale_inv', type: 'F32', shape: [2, 1] },
  ]);
  expect(fp8.tensors).toMatchObject([
    { name: 'l.weight', type: 'bf16', shape: [256, 128], bytes: 65536, hasData: false },
  ]);
  expect(fp8.notices).toHaveLength(1);
  const mlx = formats.fromHeaders('mlx', '{"quantization":{"bits":4,"group_size":64}}', [
    { name: 'l.weight', type: 'U32', shape: [256, 16] },
    { name: 'l.scales', type: 'BF16', shape: [256, 2] },
    { name: 'l.biases', type: 'BF16', shape: [256, 2] },
  ]);
  expect(mlx.tensors).toMatchObject([{ name: 'l.weight', type: 'affine', shape: [256, 128], bytes: 18432 }]);
});

describe('quantised releases of other tools', () => {
  const said = (quantization_config: object) =>
    formats.unsupportedQuantisation(JSON.stringify({ quantization_config }));
  test('what the engine computes with passes', () => {
    for (const block of [
      { quant_method: 'fp8', weight_block_size: [128, 128] },
      { quant_method: 'compressed-tensors', format: 'float-quantized' },
      { quant_method: 'modelopt', quant_algo: 'FP8' },
      { bits: 4, group_size: 64 },
    ]) {
      expect(said(block)).toBeNull();
    }
    expect(formats.unsupportedQuantisation('{}')).toBeNull();
  });
  test('everything else is named', () => {
    expect(said({ quant_method: 'gptq', bits: 4 })).toMatch(
      /^\[config\] .* quantised by "gptq"; allowed: MLX .* FP8 .* GGUF/,
    );
    expect(said({ quant_method: 'compressed-tensors', format: 'pack-quantized' })).toMatch(
      /"compressed-tensors" as "pack-quantized"/,
    );
    expect(said({ quant_method: 'modelopt', quant_algo: 'NVFP4' })).toMatch(/"modelopt" as "NVFP4"/);
    expect(said({ quant_method: 3 })).toMatch(/quantised by ""/);
  });
});
