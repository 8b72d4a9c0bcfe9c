import { expect, test } from 'vitest';
import type { ModelDescription } from '../../../../app/protocol/index.ts';
import { whyNotLatent } from '../../../../app/protocol/models/latent.ts';

const llama = (more: object = {}) =>
  ({
    family: 'llama',
    container: 'safetensors',
    layers: [{ kind: 'attention' }],
    types: { BF16: 10, F32: 2 },
    ...more,
  }) as unknown as ModelDescription;

test.each<[string, object, string | null]>([
  ['a Llama as published', {}, null],
  ['one in half precision with buffers', { types: { F16: 9, I64: 1, BOOL: 1 } }, null],
  ['one that was converted', { layers: [{ kind: 'attention' }, { kind: 'latent' }] }, 'latent-already'],
  ['one that was converted, as a file', { container: 'gguf', layers: [{ kind: 'latent' }] }, 'latent-already'],
  ['another family', { family: 'qwen3' }, 'latent-family'],
  ['a GGUF file', { container: 'gguf', types: { F16: 9 } }, 'latent-file'],
  ['one of MLX', { container: 'mlx' }, 'latent-rounded'],
  ['one that was quantised', { types: { BF16: 2, FP8: 9 } }, 'latent-rounded'],
])('%s: %j can be converted, or why not', (_what, more, why) => {
  expect(whyNotLatent(llama(more))).toBe(why);
});
