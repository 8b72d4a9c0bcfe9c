// Loading: progress, giving up, and refusals that are sentences with a code.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import { readSafetensors, safetensors, temporaryFolder } from '../../support/models/formats.ts';
import { starter } from '../../support/models/models.ts';

test('progress rises to the size of the weights', async () => {
  const seen: number[] = [];
  let size = 0;
  const model = await addon.load(starter, {
    onProgress: (done, total) => {
      seen.push(done);
      size = total;
    },
  });
  expect(size).toBe(model.description.weightBytes);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(size);
  model.close();
});

test('a load that is given up rejects with `cancelled`', async () => {
  const signal = new addon.AbortFlag();
  signal.set();
  await expect(addon.load(starter, { signal })).rejects.toMatchObject({ code: 'cancelled' });
});

/** A well-formed file full of holes: sizes are claimed, nothing is stored. */
function hollow(path: string, shapes: [name: string, shape: number[]][]): void {
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const [name, shape] of shapes) {
    const end = offset + shape.reduce((product, size) => product * size, 2);
    header[name] = { dtype: 'BF16', shape, data_offsets: [offset, end] };
    offset = end;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = openSync(path, 'w');
  writeSync(file, Buffer.concat([length, text]));
  ftruncateSync(file, 8 + text.length + offset);
  closeSync(file);
}

test('weights larger than the memory are a sentence, before anything is allocated', async () => {
  const source = join(golden, 'llama/gqa_tied');
  const config = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8')) as object;
  const [vocabulary, hidden] = [1 << 22, 1 << 16];
  const tensors = readSafetensors(readFileSync(join(source, 'model.safetensors')));
  const folder = temporaryFolder({
    'config.json': JSON.stringify({ ...config, vocab_size: vocabulary, hidden_size: hidden }),
  });
  // 96 is the hidden size of this case and also what its heads add up to.
  const wider = (name: string, shape: number[]) => {
    if (name.endsWith('embed_tokens.weight')) return [vocabulary, hidden];
    if (name.endsWith('o_proj.weight')) return [hidden, 96];
    return shape.length === 1
      ? [hidden]
      : shape.map((size, i) => (size === 96 && !(i === 0 && name.includes('q_proj')) ? hidden : size));
  };
  hollow(
    join(folder, 'model.safetensors'),
    Object.entries(tensors).map(([name, { shape }]) => [name, wider(name, shape)]),
  );
  await expect(addon.load(folder)).rejects.toMatchObject({
    code: 'memory',
    message: expect.stringMatching(/MB are free/),
  });
});

test('an infinite weight is found when every value is looked at', async () => {
  const source = join(golden, 'llama/gqa_tied');
  const tensors = readSafetensors(readFileSync(join(source, 'model.safetensors')));
  const name = 'model.layers.1.mlp.up_proj.weight';
  new DataView(tensors[name]?.bytes.buffer ?? new ArrayBuffer(0)).setFloat32(400, Number.POSITIVE_INFINITY, true);
  const folder = temporaryFolder({
    'config.json': readFileSync(join(source, 'config.json')),
    'model.safetensors': safetensors(tensors),
  });
  await expect(addon.load(folder, { verify: true })).rejects.toMatchObject({
    code: 'format',
    message: expect.stringContaining(name),
  });
});

test('an infinite scale is found without being asked for, where weights are repacked', async () => {
  const source = join(golden, 'mlx_models/qwen3_5_4bit');
  const tensors = readSafetensors(readFileSync(join(source, 'model.safetensors')));
  const name = Object.keys(tensors).find((key) => key.endsWith('mlp.down_proj.scales')) ?? '';
  const scales = tensors[name]?.bytes ?? new Uint8Array();
  scales.set([0x80, 0x7f], scales.length - 2); // the last one, infinity in bf16
  const folder = temporaryFolder({
    'config.json': readFileSync(join(source, 'config.json')),
    'model.safetensors': safetensors(tensors),
  });
  await expect(addon.load(folder, { device: 'cpu' })).rejects.toMatchObject({
    code: 'format',
    message: expect.stringMatching(/down_proj.*the scale of group \d+ is not finite; the file is damaged/),
  });
});

test('what cannot be loaded says why', async () => {
  await expect(addon.load('/nowhere/model.gguf')).rejects.toMatchObject({ code: 'format' });
  await expect(addon.load(starter, { device: 'quantum' })).rejects.toMatchObject({ code: 'unsupported' });
  await expect(addon.load(starter, { cpu: 'abacus' })).rejects.toMatchObject({ code: 'unsupported' });
  expect(() => addon.load(starter, { threads: -1 })).toThrow('threads');
});

test('memory of a session is what its layers declare', async () => {
  const model = await addon.load(starter);
  // 2 attention layers, 2 key-value heads of 128, keys and values; 6 gated-delta layers: S 2 x 128 x 128, window 3 x 512.
  const states = 6 * (2 * 128 * 128 + 3 * 512) * 4;
  for (const [kvType, bytes] of [
    ['f32', 4],
    ['f16', 2],
  ] as const) {
    const session = model.createSession({ contextLength: 1000, kvType });
    expect(session.memoryBytes).toBe(states + 1000 * 2 * 2 * 2 * 128 * bytes);
  }
  expect(model.description.stateBytes).toBe(states);
  expect(model.description.contextBytesPerToken).toBe(2 * 2 * 2 * 128 * 2);
  model.close();
});
