import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import {
  f32,
  formats,
  type GgufTensor,
  type GgufValue,
  gguf,
  llama,
  temporaryFolder,
} from '../../support/models/formats.ts';

const malformed = join(golden, 'containers', 'malformed_gguf');
const valid = join(golden, 'containers', 'valid_gguf');
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const fileOf = (bytes: Uint8Array) => join(temporaryFolder({ 'model.gguf': bytes }), 'model.gguf');
const row = (name: string, ...values: number[]): GgufTensor => ({
  name,
  type: 'F32',
  shape: [values.length],
  bytes: f32(...values),
});

describe('malformed files of the golden set', () => {
  for (const { file, wrong } of json(join(malformed, 'expected.json')).files) {
    test(`${file}: ${wrong}`, () => {
      const load = () => formats.verifyWeights(join(malformed, file));
      expect(load).toThrow(
        expect.objectContaining({ code: 'format', message: expect.stringMatching(/^\[(gguf|weights)\] .{20}/) }),
      );
    });
  }
});

describe('more malformed files', () => {
  const cases: [string, () => Uint8Array, RegExp][] = [
    ['version 1', () => gguf(llama, [], 1), /version 1; versions 2 and 3 are allowed/],
    [
      'a general.architecture that is a number',
      () => gguf({ 'general.architecture': { type: 'u32', value: 1 } }, []),
      /"general.architecture" \(a string\) is missing/,
    ],
    ['an empty key', () => gguf({ ...llama, '': { type: 'u32', value: 1 } }, []), /a key is empty/],
    [
      'a key of 70,000 bytes',
      () => gguf({ ...llama, ['k'.repeat(70_000)]: { type: 'u32', value: 1 } }, []),
      /has 70000 bytes, at most 65535/,
    ],
    ['a tensor without a name', () => gguf(llama, [row('', 1)]), /a name of 0 bytes/],
    [
      'a dimension of 2^63',
      () => gguf(llama, [{ ...row('x', 1), shape: [2n ** 63n] }]),
      /a dimension of 9223372036854775808, expected 1 to 2\^63 - 1/,
    ],
    ['a dimension of 0', () => gguf(llama, [{ ...row('x'), shape: [0] }]), /a dimension of 0, expected 1/],
    [
      '100 GB in a small file',
      () => gguf(llama, [{ ...row('x', 1), shape: [25_000_000_000n] }]),
      /needs 100000000000 bytes from byte 0 of the data, the file has 32/,
    ],
    [
      'a type known but not computed with',
      () => gguf(llama, [{ ...row('x', 1), type: 16 }]),
      /has the type IQ2_XXS; allowed: F32/,
    ],
    [
      'K-quant rows of 128 elements',
      () => gguf(llama, [{ name: 'x', type: 'Q4_K', shape: [2, 128], bytes: new Uint8Array(144) }]),
      /rows of 128 elements, which is not a whole number of blocks of 256/,
    ],
    [
      'a split count that is negative',
      () => gguf({ ...llama, 'split.count': { type: 'i32', value: -3 } }, []),
      /"split.count" is not a whole number/,
    ],
    [
      'a split of a billion files',
      () => gguf({ ...llama, 'split.count': { type: 'u32', value: 1e9 } }, []),
      /split.count is 1000000000, at most 99999/,
    ],
    [
      'a split whose name says nothing',
      () => gguf({ ...llama, 'split.count': { type: 'u16', value: 2 } }, []),
      /its name must end with -00001-of-00002.gguf/,
    ],
  ];
  for (const [what, bytes, message] of cases) {
    test(what, () => expect(() => formats.openCheckpoint(fileOf(bytes()))).toThrow(message));
  }

  test('arrays that would fill the memory are refused', () => {
    const count = 5_000_000;
    const bytes = Buffer.from(gguf({ ...llama, 'x.array': { type: 'strings', value: [] } }, []));
    const header = bytes.subarray(0, bytes.indexOf('x.array') + 'x.array'.length + 4);
    const tail = Buffer.alloc(12 + count);
    tail.writeUInt32LE(0);
    tail.writeBigUInt64LE(BigInt(count), 4);
    expect(() => formats.readGguf(Buffer.concat([header, tail]))).toThrow(/"x.array" has too many elements: 2000000/);
  });

  test('texts that would fill the memory are refused, in an array or not, and as many as are allowed are read', () => {
    const tokens = (count: number, length: number) =>
      gguf({ ...llama, 'x.tokens': { type: 'strings', value: Array(count).fill('a'.repeat(length)) } }, []);
    const much = /"x.tokens" has too much text: 67108864 bytes are allowed/;
    expect(() => formats.readGguf(tokens(700, 100_000))).toThrow(much);
    expect(() => formats.readGguf(tokens(7, 10_000_000))).toThrow(much);
    expect(() => formats.readGguf(tokens(600, 100_000))).not.toThrow();
    expect(() => formats.readGguf(tokens(2_000_001, 0))).toThrow(/"x.tokens" has too many elements: 2000000/);
  });

  test('more tensors or keys than any model has are refused', () => {
    const tensors = (count: number) => {
      const bytes = Buffer.concat([Buffer.from(gguf(llama, [])), Buffer.alloc(count * 40)]);
      bytes.writeBigUInt64LE(BigInt(count), 8);
      return bytes;
    };
    expect(() => formats.readGguf(tensors(200_001))).toThrow(/200001 tensors are declared, at most 200000 are allowed/);
    // So many are believed, and read: the first has no name.
    expect(() => formats.readGguf(tensors(200_000))).toThrow(/tensor ""/);
    const keys = (count: number) => {
      const bytes = Buffer.concat([Buffer.from(gguf(llama, [])), Buffer.alloc(count * 13)]);
      bytes.writeBigUInt64LE(BigInt(count), 16);
      return bytes;
    };
    expect(() => formats.readGguf(keys(65_537))).toThrow(/65537 metadata keys are declared, at most 65536 are allowed/);
    expect(() => formats.readGguf(keys(65_536))).toThrow(/a key is empty/);
  });

  test('every truncation of a valid file is refused', () => {
    const whole = readFileSync(join(valid, 'all_value_types.gguf'));
    for (let length = 0; length < whole.length; ++length) {
      expect(() => formats.readGguf(whole.subarray(0, length)), `${length} bytes`).toThrow('[gguf]');
    }
  });

  test('every changed byte is refused or read, never a crash', () => {
    const whole = readFileSync(join(valid, 'all_value_types.gguf'));
    let refused = 0;
    for (let at = 0; at < whole.length; ++at) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Uint8Array.from(whole);
        changed[at] = value;
        try {
          formats.readGguf(changed);
        } catch (error) {
          expect((error as Error).message).toMatch(/^\[gguf\]/);
          ++refused;
        }
      }
    }
    expect(refused).toBeGreaterThan(whole.length / 2);
  });
});

describe('valid files', () => {
  const { values, tensors } = json(join(valid, 'expected.json'))['all_value_types.gguf'];
  const path = join(valid, 'all_value_types.gguf');

  test('every value type arrives in the configuration', () => {
    const { config, container } = formats.openCheckpoint(path);
    expect(container).toBe('gguf');
    for (const [key, value] of Object.entries(values)) {
      const large = typeof value === 'string' && /^-?\d+$/.test(value);
      expect(config[key], key).toEqual(large ? Number(value) : value);
    }
  });

  test('shapes are turned to row-major order, values are those written', () => {
    for (const [name, { shape_rows_first, ne, values: expected }] of Object.entries<Record<string, number[]>>(
      tensors,
    )) {
      const found = formats.openCheckpoint(path).tensors.find((tensor) => tensor.name === name);
      expect(found?.shape).toEqual(shape_rows_first ?? ne);
      expect([...formats.dequantise(path, name)]).toEqual(expected);
    }
  });

  test('values begin behind a header of any length, also one that ends where they may', () => {
    for (let more = 0; more <= 32; more++) {
      const described = { ...llama, 'general.description': { type: 'string', value: 'x'.repeat(more) } } as const;
      expect([...formats.dequantise(fileOf(gguf(described, [row('x', 1, 2)])), 'x')]).toEqual([1, 2]);
    }
  });

  test('version 2 is read like version 3', () => {
    expect([...formats.dequantise(fileOf(gguf(llama, [row('x', 1, 2)], 2)), 'x')]).toEqual([1, 2]);
  });

  test('a vocabulary without tensors is a valid file', () => {
    expect(formats.openCheckpoint(fileOf(gguf(llama, []))).tensors).toEqual([]);
  });

  test('text that is not UTF-8 is repaired, not refused', () => {
    const description: GgufValue = { type: 'string', value: Uint8Array.of(0x61, 0xff, 0x62) };
    const { config } = formats.openCheckpoint(fileOf(gguf({ ...llama, 'general.description': description }, [])));
    expect(config['general.description']).toBe('a\ufffdb');
  });

  test('a tensor of 4 bytes at the very end of the file needs no padding after it', () => {
    const bytes = gguf(llama, [row('x', 5)]);
    expect([...formats.dequantise(fileOf(bytes.subarray(0, bytes.length - 28)), 'x')]).toEqual([5]);
  });
});

describe('split files', () => {
  const split = (no: number, count: number, tensorCount: number): Record<string, GgufValue> => ({
    'split.no': { type: 'u16', value: no },
    'split.count': { type: 'u16', value: count },
    'split.tensors.count': { type: 'i32', value: tensorCount },
  });
  const name = (no: number, count = 2) => `m-0000${no + 1}-of-0000${count}.gguf`;
  const set = (patch: Record<string, Uint8Array> = {}) =>
    temporaryFolder({
      [name(0)]: gguf({ ...llama, ...split(0, 2, 3), 'x.first': { type: 'bool', value: true } }, [
        row('a', 1),
        row('b', 2),
      ]),
      [name(1)]: gguf({ ...llama, ...split(1, 2, 3) }, [row('c', 3)]),
      ...patch,
    });

  test('any one of them opens the whole model', () => {
    for (const no of [0, 1]) {
      const { tensors, config, files } = formats.openCheckpoint(join(set(), name(no)));
      expect(tensors.map((tensor) => [tensor.name, tensor.file])).toEqual([
        ['a', 0],
        ['b', 0],
        ['c', 1],
      ]);
      expect(config['x.first']).toBe(true);
      expect(files).toHaveLength(2);
    }
    expect([...formats.dequantise(join(set(), name(0)), 'c')]).toEqual([3]);
  });

  test('a set that does not fit together is refused', () => {
    const open = (folder: string) => () => formats.openCheckpoint(join(folder, name(0)));
    expect(open(set({ [name(0)]: gguf({ ...llama, ...split(0, 3, 3) }, []) }))).toThrow(
      /must end with -00001-of-00003/,
    );
    expect(open(set({ [name(1)]: gguf({ ...llama, ...split(0, 2, 3) }, []) }))).toThrow(/do not say 1 of 2/);
    expect(open(set({ [name(1)]: gguf({ ...llama, ...split(1, 2, 3) }, []) }))).toThrow(
      /split.tensors.count is 3, the 2 files hold 2/,
    );
    expect(open(set({ [name(1)]: gguf({ ...llama, ...split(1, 2, 3) }, [row('c', 3), row('d', 4)]) }))).toThrow(
      /split.tensors.count is 3, the 2 files hold 4/,
    );
    expect(open(set({ [name(1)]: gguf({ ...llama, ...split(1, 2, 3) }, [row('a', 3)]) }))).toThrow(
      /two tensors are called "a"/,
    );
    const alone = temporaryFolder({ [name(0)]: gguf({ ...llama, ...split(0, 2, 1) }, [row('a', 1)]) });
    expect(open(alone)).toThrow(/the model has 2 files, m-00002-of-00002.gguf is missing/);
  });
});

describe('ggufMetadata', () => {
  test('lists of any length arrive whole, names like __proto__ are names', async () => {
    const tokens = Array.from({ length: 200_000 }, (_, i) => `token ${i} é`);
    const path = fileOf(
      gguf(
        {
          ...llama,
          'tokenizer.ggml.tokens': { type: 'strings', value: tokens },
          'tokenizer.ggml.merges': { type: 'strings', value: ['a b'] },
          __proto__x: { type: 'u32', value: 7 },
          ['__proto__']: { type: 'u32', value: 8 },
        },
        [],
      ),
    );
    const metadata = await addon.ggufMetadata(path);
    expect(metadata['tokenizer.ggml.tokens']).toEqual(tokens);
    expect(metadata['tokenizer.ggml.merges']).toEqual(['a b']);
    expect(Object.getOwnPropertyDescriptor(metadata, '__proto__')?.value).toBe(8);
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
    expect(formats.metadataStrings(path, 'tokenizer.ggml.tokens')).toEqual(tokens);
    expect(formats.openCheckpoint(path).config).not.toHaveProperty('tokenizer.ggml.tokens');
  });

  test('a large vocabulary is handed over in many turns of the event loop', async () => {
    const file = (count: number) => {
      const tokens = Array.from({ length: count }, (_, i) => `t${i}`);
      return fileOf(gguf({ ...llama, 'tokenizer.ggml.tokens': { type: 'strings', value: tokens } }, []));
    };
    const [small, large] = [file(2000), file(300_000)];
    let turns = 0;
    const hook = createHook({
      init: (_, type) => {
        if (type === 'ggufMetadata') ++turns;
      },
    }).enable();
    await addon.ggufMetadata(small);
    const turnsOfSmall = turns;
    await addon.ggufMetadata(large);
    hook.disable();
    expect(turnsOfSmall).toBeGreaterThanOrEqual(1);
    expect(turns - turnsOfSmall).toBeGreaterThan(turnsOfSmall + 4);
  });

  test('errors reject with a code', async () => {
    await expect(addon.ggufMetadata('/no/such.gguf')).rejects.toMatchObject({ code: 'format' });
    await expect(addon.ggufMetadata(join(malformed, 'array_huge.gguf'))).rejects.toMatchObject({
      code: 'format',
      message: expect.stringContaining('[gguf] array_huge.gguf: the key "tokenizer.ggml.tokens" declares'),
    });
    expect(() => addon.ggufMetadata(3 as unknown as string)).toThrow(expect.objectContaining({ code: 'argument' }));
  });
});
