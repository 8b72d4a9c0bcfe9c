import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { golden } from '../../support/addon.ts';
import { f32, formats, type StoredTensor, safetensors, temporaryFolder } from '../../support/models/formats.ts';

const malformed = join(golden, 'containers', 'malformed_safetensors');
const unusual = join(golden, 'containers', 'unusual_safetensors');
const sharded = join(golden, 'containers', 'sharded');
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

const two = (): Record<string, StoredTensor> => ({
  a: { dtype: 'F32', shape: [2, 3], bytes: f32(1, 2, 3, 4, 5, 6) },
  b: { dtype: 'F32', shape: [2], bytes: f32(7, 8) },
});
/** A folder with one model.safetensors. */
const folderOf = (file: Uint8Array, config = '{}') =>
  temporaryFolder({ 'config.json': config, 'model.safetensors': file });

describe('malformed files of the golden set', () => {
  for (const { file, wrong } of json(join(malformed, 'expected.json')).files) {
    test(`${file}: ${wrong}`, () => {
      const folder = folderOf(readFileSync(join(malformed, file)));
      expect(() => formats.openCheckpoint(folder)).toThrow(
        expect.objectContaining({ code: 'format', message: expect.stringMatching(/^\[safetensors\] .{20}/) }),
      );
    });
  }
});

describe('more malformed files', () => {
  type Header = Record<string, { dtype: string; shape: unknown; data_offsets: unknown }>;
  const spoilt: [string, (header: Header) => unknown, RegExp][] = [
    ['a tensor is a number', (h) => ({ ...h, c: 3 }), /"c" is not described by an object/],
    ['__metadata__ is a list', (h) => ({ __metadata__: [], ...h }), /__metadata__ is not an object/],
    ['nine dimensions', (h) => ({ ...h, c: entry([1, 1, 1, 1, 1, 1, 1, 1, 0], [32, 32]) }), /9 dimensions/],
    ['a shape beyond 63 bits', (h) => ({ ...h, c: entry([2 ** 53, 2 ** 53, 0], [32, 32]) }), /more elements/],
    [
      '100 GB in 32 bytes',
      (h) => ({ ...h, c: entry([25e9], [32, 100e9 + 32]) }),
      /ends at byte 100000000032, the file has 32/,
    ],
    ['an empty tensor in the middle of another', (h) => ({ ...h, c: entry([0], [8, 8]) }), /overlaps|gap/],
    [
      'a tensor that begins in another and ends with it',
      (h) => ({ ...h, c: entry([1], [28, 32]) }),
      /"c" overlaps the tensor before it \(byte 28\)/,
    ],
    [
      'a type without use for the engine',
      (h) => ({ ...h, c: { ...entry([0], [32, 32]), dtype: 'F4' } }),
      /"F4"; allowed: F64/,
    ],
    ['a name that could end a message line', (h) => ({ ...h, 'x\n\u001b[2J': entry([1], [32, 32]) }), /\\x0a\\x1b\[2J/],
  ];
  const entry = (shape: number[], data_offsets: number[]) => ({ dtype: 'F32', shape, data_offsets });
  for (const [what, patch, message] of spoilt) {
    test(what, () => {
      const folder = folderOf(safetensors(two(), (header) => patch(header as Header)));
      expect(() => formats.openCheckpoint(folder)).toThrow(message);
    });
  }

  test('every truncation of a valid file is refused', () => {
    const whole = safetensors(two());
    for (let length = 0; length < whole.length; ++length) {
      expect(() => formats.readSafetensors(whole.subarray(0, length)), `${length} bytes`).toThrow('[safetensors]');
    }
  });

  test('every changed byte of a header is refused or read, never a crash', () => {
    const whole = safetensors(two());
    let refused = 0;
    for (let at = 0; at < whole.length - 32; ++at) {
      for (const value of [0, 0x22, 0x39, 0x7b, 0xff]) {
        const changed = Uint8Array.from(whole);
        changed[at] = value;
        try {
          formats.readSafetensors(changed);
        } catch (error) {
          expect((error as Error).message).toMatch(/^\[safetensors\]/);
          ++refused;
        }
      }
    }
    expect(refused).toBeGreaterThan(whole.length);
  });

  test('a header of a hundred thousand tensors is read', () => {
    const header: Record<string, unknown> = {};
    for (let i = 0; i < 100_000; ++i) header[`t${i}`] = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
    expect(formats.readSafetensors(safetensors({}, () => header))).toHaveLength(100_000);
  });

  test('a header of millions of empty lists does not become gigabytes', () => {
    const header = `{"a":[${'[],'.repeat(5_000_000)}[]]}`;
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    expect(() => formats.readSafetensors(Buffer.concat([length, Buffer.from(header)]))).toThrow(
      /more than 2000000 values/,
    );
  });
});

describe('files with unusual features', () => {
  test('every element type has its values', () => {
    const folder = folderOf(readFileSync(join(unusual, 'dtypes.safetensors')));
    const { tensors } = formats.openCheckpoint(folder);
    const expected = json(join(unusual, 'expected.json'))['dtypes.safetensors'];
    expect(tensors.map((tensor) => tensor.name).sort()).toEqual(Object.keys(expected).sort());
    const number = (value: unknown) =>
      typeof value === 'string' ? Number(value.replace('inf', 'Infinity')) : Math.fround(Number(value));
    for (const [name, { shape, values }] of Object.entries<{ shape: number[]; values: unknown[] }>(expected)) {
      expect(tensors.find((tensor) => tensor.name === name)?.shape).toEqual(shape);
      expect([...formats.dequantise(folder, name)], name).toEqual(values.map(number));
    }
  });

  test('names out of order, a padded header and data at odd addresses', () => {
    const folder = folderOf(readFileSync(join(unusual, 'odd_order_and_padding.safetensors')));
    const expected = json(join(unusual, 'expected.json'))['odd_order_and_padding.safetensors'];
    expect([...formats.dequantise(folder, 'a')]).toEqual(expected.a.flat());
    expect([...formats.dequantise(folder, 'b')]).toEqual(expected.b.flat());
  });

  test('F8_E8M0 scales are kept as bytes', () => {
    const folder = folderOf(safetensors({ s: { dtype: 'F8_E8M0', shape: [2], bytes: Uint8Array.of(127, 255) } }));
    expect([...formats.dequantise(folder, 's')]).toEqual([127, 255]);
  });
});

describe('sharded models', () => {
  test('the shards of the index are one model', () => {
    const { tensors, files } = formats.openCheckpoint(sharded);
    expect(files).toHaveLength(3);
    const index = json(join(sharded, 'model.safetensors.index.json'));
    expect(tensors.map((tensor) => tensor.name).sort()).toEqual(Object.keys(index.weight_map).sort());
    for (const tensor of tensors) expect(files[tensor.file]).toContain(index.weight_map[tensor.name]);
    expect(tensors.reduce((sum, tensor) => sum + tensor.bytes, 0)).toBe(index.metadata.total_size);
  });

  test('one shard opens the whole set', () => {
    const path = join(sharded, 'model-00002-of-00003.safetensors');
    expect(formats.openCheckpoint(path).tensors).toHaveLength(20);
  });

  const broken: Record<string, RegExp> = {
    missing_file: /the shard model-00009-of-00003.safetensors is missing/,
    wrong_shard: /said to be in model-00002-of-00003.safetensors, it is in model-00001/,
    path_traversal: /"\.\.\/\.\.\/.*allowed: the name of a .safetensors file in the same folder/,
    absolute_path: /"\/tmp\/x.safetensors"; allowed/,
    missing_tensor: /"model.embed_tokens.weight" of model-00001-of-00003.safetensors is not listed/,
    extra_tensor: /"model.layers.99.x.weight" is said to be in .* does not hold it/,
  };
  const indexed = (index: string | Uint8Array) => {
    const folder = temporaryFolder();
    cpSync(sharded, folder, { recursive: true });
    writeFileSync(join(folder, 'model.safetensors.index.json'), index);
    return folder;
  };
  for (const [name, message] of Object.entries(broken)) {
    test(`an index with ${name.replace('_', ' ')} is refused`, () => {
      const folder = indexed(readFileSync(join(sharded, 'broken_index', `${name}.json`)));
      expect(() => formats.openCheckpoint(folder)).toThrow(message);
    });
  }

  const shardNames = [
    '',
    '.',
    '..',
    'a\\b.safetensors',
    'C:x.safetensors',
    '.hidden.safetensors',
    'weights.bin',
    'x\u0000.safetensors',
    './model-00001-of-00003.safetensors',
  ];
  for (const shard of shardNames) {
    test(`the shard name ${JSON.stringify(shard)} is refused`, () => {
      const folder = indexed(JSON.stringify({ weight_map: { x: shard } }));
      expect(() => formats.openCheckpoint(folder)).toThrow(
        /\[safetensors\] .*allowed: the name of a .safetensors file/,
      );
    });
  }
  for (const [index, message] of [
    ['{}', /no object "weight_map"/],
    ['{"weight_map": {}}', /"weight_map" is empty/],
    ['{"weight_map": {"x": 3}}', /the file of "x" is not a string/],
    ['{"weight_map": {"x": "a.safetensors", "x": "a.safetensors"}}', /"x" appears twice/],
    ['nonsense', /not valid JSON at byte 0/],
  ] as const) {
    test(`the index ${index} is refused`, () => {
      expect(() => formats.openCheckpoint(indexed(index))).toThrow(message);
    });
  }

  test('the same tensor in two shards is refused', () => {
    const folder = temporaryFolder({
      'config.json': '{}',
      'a.safetensors': safetensors(two()),
      'b.safetensors': safetensors({ ...two(), c: { dtype: 'U8', shape: [1], bytes: Uint8Array.of(1) } }),
      'model.safetensors.index.json': JSON.stringify({
        weight_map: { a: 'a.safetensors', b: 'a.safetensors', c: 'b.safetensors' },
      }),
    });
    expect(() => formats.openCheckpoint(folder)).toThrow(/"a" is said to be in a.safetensors, it is in b.safetensors/);
  });

  test('shards behind symbolic links (the cache of the hub) are followed', () => {
    const blobs = temporaryFolder({ blob: safetensors(two()) });
    const folder = temporaryFolder({ 'config.json': '{}' });
    symlinkSync(join(blobs, 'blob'), join(folder, 'model.safetensors'));
    expect([...formats.dequantise(folder, 'b')]).toEqual([7, 8]);
  });
});

describe('folders', () => {
  test('what is missing is said', () => {
    expect(() => formats.openCheckpoint('/no/such/model')).toThrow(
      '[checkpoint] there is no file or folder /no/such/model',
    );
    expect(() => formats.openCheckpoint(temporaryFolder())).toThrow(/\[config\] .* has no config.json/);
    expect(() => formats.openCheckpoint(temporaryFolder({ 'config.json': '{}' }))).toThrow(
      /has neither model.safetensors nor/,
    );
    expect(() => formats.openCheckpoint(join(temporaryFolder({ 'model.bin': 'x' }), 'model.bin'))).toThrow(
      /is not a model; expected/,
    );
    expect(() =>
      formats.openCheckpoint(join(temporaryFolder({ 'm.safetensors': safetensors(two()) }), 'm.safetensors')),
    ).toThrow(/has no config.json/);
  });

  for (const [config, message] of [
    ['[]', '[config] config.json is not an object'],
    ['{"a":1,"a":2}', 'the key "a" appears twice'],
    ['{"a":NaN}', 'numbers must be finite'],
    ['', '[config] config.json is not valid JSON at byte 0: the text ends early'],
  ] as const) {
    test(`the configuration ${JSON.stringify(config)} is refused`, () => {
      expect(() => formats.openCheckpoint(folderOf(safetensors(two()), config))).toThrow(message);
    });
  }

  test('a model that is itself a folder or a pipe is refused', () => {
    const folder = temporaryFolder({ 'config.json': '{}' });
    cpSync(temporaryFolder(), join(folder, 'model.safetensors'), { recursive: true });
    expect(() => formats.openCheckpoint(folder)).toThrow(/is not a regular file/);
  });
});
