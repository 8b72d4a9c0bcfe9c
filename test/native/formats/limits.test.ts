// What the readers take to the last byte, and refuse from the next one on; and in which words.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  f32,
  formats,
  type GgufTensor,
  type GgufValue,
  gguf,
  llama,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

const parse = (text: string) => formats.parseJson(Buffer.from(text));

describe('JSON', () => {
  test.each([
    ['lists in lists 65 deep', () => parse('['.repeat(65) + ']'.repeat(65))],
    ['objects 65 deep', () => parse(`${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`)],
    // Two million values with the object and its list.
    ['two million values', () => formats.unsupportedQuantisation(`{"a":[${'0,'.repeat(1_999_997)}0]}`)],
  ])('%s are read', (_, read) => expect(read).not.toThrow());

  test.each([
    ['["\\ud7ff", "\\ue000"]', ['\ud7ff', '\ue000']],
    ['["\\ud800\\udc00", "\\udbff\\udfff"]', ['\u{10000}', '\u{10ffff}']],
    ['"\\u09af\\u09AF\\uafFa"', '\u09af\u09af\uaffa'],
    ['"\\u007f\\u0080\\u07ff\\u0800"', '\u007f\u0080\u07ff\u0800'],
    ['" \u007f"', ' \u007f'],
    ['[-9223372036854775808, 1e5, 1E+5, 1e-5, -0.5, 10, 0]', [-(2 ** 63), 1e5, 1e5, 1e-5, -0.5, 10, 0]],
  ])('%s is read', (text, value) => expect(parse(text)).toEqual(value));

  test.each([
    ['['.repeat(66), 'byte 65: nested deeper than 64 levels'],
    ['{"a":'.repeat(66), 'byte 325: nested deeper than 64 levels'],
    ['"\\ud800\\ue000"', 'half of a surrogate pair'],
    ['"\\ud800\\udbff"', 'half of a surrogate pair'],
    ['"\\udbffxudfff"', 'half of a surrogate pair'],
    ['"\\ud800\\n"', 'half of a surrogate pair'],
    ...['/', ':', '@', 'G', '`', 'g'].flatMap((bad) =>
      [0, 3].map((at): [string, string] => [
        `"\\u${'0000'.slice(0, at)}${bad}${'0000'.slice(at + 1)}"`,
        `byte ${4 + at}: \\u needs four hexadecimal digits`,
      ]),
    ),
    ['"\u001f"', 'byte 1: a control character inside a string'],
    ['00', 'a number with a leading zero'],
    ['-01', 'a number with a leading zero'],
    ['1e+', 'a number without digits in its exponent'],
    ['-', 'byte 0: "-" where a value is expected (numbers must be finite)'],
    ['[1, x]', 'byte 4: "x" where a value is expected'],
    ['[1, -x]', 'byte 4: "-" where a value is expected'],
    ['{"a" 1}', 'byte 5: "1" where ":" is expected'],
    ['[true, nulL]', 'byte 7: an unknown word; allowed: true, false, null'],
    ['1 1', 'byte 2: text after the end of the document'],
    ['-1e999', 'a number beyond the range of a double'],
  ])('%s is refused', (text, message) => expect(() => parse(text)).toThrow(message));
});

/** A metadata key that is refused, or read as this value. */
const metadata = (entry: GgufValue) => gguf({ ...llama, 'x.key': entry }, []);
const raw = (type: number, ...bytes: number[]): GgufValue => ({ type, value: Uint8Array.from(bytes) });
/** Lists in lists of one element: the header of each is the type and the count. */
const nested = (depth: number) =>
  raw(
    9,
    ...Array.from({ length: depth - 1 }, () => [9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]).flat(),
    ...[0, 0, 0, 0],
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    7,
  );
const fileOf = (bytes: Uint8Array, name = 'm.gguf') => join(temporaryFolder({ [name]: bytes }), name);
const key = (entry: GgufValue) => formats.openCheckpoint(fileOf(metadata(entry))).config['x.key'];
const tensor = (name: string, shape: number[], values = 1): GgufTensor => ({
  name,
  type: 'F32',
  shape,
  bytes: new Uint8Array(4 * values),
});

describe('GGUF', () => {
  test('a value of every type is read as it was written', () => {
    expect(key(raw(0, 255))).toBe(255);
    expect(key(raw(1, 255))).toBe(-1);
    expect(key(raw(2, 255, 255))).toBe(65_535);
    expect(key(raw(3, 255, 255))).toBe(-1);
    expect(key(raw(4, 255, 255, 255, 255))).toBe(2 ** 32 - 1);
    expect(key(raw(5, 255, 255, 255, 255))).toBe(-1);
    expect(key(raw(7, 0))).toBe(false);
    expect(key(raw(7, 1))).toBe(true);
    expect(key({ type: 'u64', value: 2n ** 63n - 1n })).toBe(2 ** 63);
    expect(key({ type: 'u64', value: 2n ** 64n - 1n })).toBe(2 ** 64);
    expect(key({ type: 'u64', value: 5n })).toBe(5);
    expect(key(raw(11, 255, 255, 255, 255, 255, 255, 255, 255))).toBe(-1);
    expect(key({ type: 12, value: new Uint8Array(Float64Array.of(0.1).buffer) })).toBe(0.1);
    expect(key(nested(4))).toEqual([[[[7]]]]);
    expect(key({ type: 'f32s', value: [] })).toEqual([]);
  });

  test('what is taken to the last byte', () => {
    const name = 'n'.repeat(63);
    const long = 'k'.repeat(65_535);
    const { tensors, config } = formats.openCheckpoint(
      fileOf(gguf({ ...llama, [long]: { type: 'u32', value: 3 } }, [tensor(name, [1, 1, 1, 1])])),
    );
    expect(tensors).toMatchObject([{ name, shape: [1, 1, 1, 1] }]);
    expect(config[long]).toBe(3);
    for (const count of [1024, 1025]) {
      const value = Array.from({ length: count }, (_, i) => `t${i}`);
      const file = fileOf(metadata({ type: 'strings', value }));
      expect(formats.metadataStrings(file, 'x.key')).toEqual(value);
      // A long list is a list of the file, no value of its configuration.
      expect('x.key' in formats.openCheckpoint(file).config).toBe(count === 1024);
    }
  });

  test.each([1, 16, 32, 64, 4096])('tensors on borders of %i bytes', (alignment) => {
    const file = Buffer.from(
      gguf({ ...llama, 'general.alignment': { type: 'u32', value: alignment } }, [tensor('a', [2], 2)]),
    );
    // The header without the padding of the writer, then that of this alignment.
    const end = file.indexOf('a', file.indexOf('general.alignment') + 30) + 1 + 4 + 8 + 4 + 8;
    const padding = (alignment - (end % alignment)) % alignment;
    const whole = Buffer.concat([file.subarray(0, end), Buffer.alloc(padding), Buffer.from(f32(5, 6))]);
    expect([...formats.dequantise(fileOf(whole), 'a')]).toEqual([5, 6]);
    expect(() => formats.readGguf(whole.subarray(0, -1))).toThrow(
      'tensor "a" needs 8 bytes from byte 0 of the data, the file has 7',
    );
  });

  const spoilt = (at: (file: Buffer) => number, ...bytes: number[]) => {
    const file = Buffer.from(gguf(llama, [tensor('first', [8], 8), tensor('second', [8], 8)]));
    file.set(bytes, at(file));
    return file;
  };
  const offsetOf = (name: string) => (file: Buffer) => file.indexOf(name) + name.length + 4 + 8 + 4;
  test.each<[string, () => Uint8Array, string]>([
    ['no GGUF', () => spoilt(() => 0, 71, 71, 85, 71), 'the file does not begin with "GGUF"'],
    ['three bytes', () => spoilt(() => 0).subarray(0, 3), 'the file does not begin with "GGUF"'],
    ['version 2 of the other order', () => spoilt(() => 4, 0, 0, 0, 2), 'the file is big-endian'],
    ['version 3 of the other order', () => spoilt(() => 4, 0, 0, 0, 3), 'the file is big-endian'],
    ['version 4', () => gguf(llama, [], 4), 'version 4; versions 2 and 3 are allowed'],
    [
      'a name of 64 bytes',
      () => gguf(llama, [tensor('n'.repeat(64), [1])]),
      'has a name of 64 bytes, expected 1 to 63',
    ],
    ['five dimensions', () => gguf(llama, [tensor('a', [1, 1, 1, 1, 1])]), 'has 5 dimensions, expected 1 to 4'],
    ['no dimensions', () => gguf(llama, [tensor('a', [])]), 'has 0 dimensions, expected 1 to 4'],
    [
      'a type of nobody',
      () => gguf(llama, [{ ...tensor('a', [1]), type: 4 }]),
      'has the type 4; allowed: F32, F16, Q4_0',
    ],
    ['twice the same', () => gguf(llama, [tensor('a', [1]), tensor('a', [1])]), 'tensor "a" appears twice'],
    [
      'off its border',
      () => spoilt(offsetOf('second'), 48),
      'begins at byte 48 of the data, which is not a multiple of the alignment 32',
    ],
    ['over another', () => spoilt(offsetOf('second'), 0), '"second" overlaps "first"'],
    [
      'behind the end',
      () => spoilt(offsetOf('second'), 64),
      'needs 32 bytes from byte 64 of the data, the file has 64',
    ],
    [
      'far behind the end',
      () => spoilt(offsetOf('second'), 96),
      'needs 32 bytes from byte 96 of the data, the file has 64',
    ],
    [
      'Q4_0 rows of 33',
      () => gguf(llama, [{ name: 'a', type: 'Q4_0', shape: [33], bytes: new Uint8Array(36) }]),
      'rows of 33 elements, which is not a whole number of blocks of 32',
    ],
    [
      'more elements than can be',
      () => gguf(llama, [tensor('a', [2 ** 40, 2 ** 40])]),
      'has more elements than 63 bits',
    ],
    [
      'a key of 65,536 bytes',
      () => gguf({ ...llama, ['k'.repeat(65_536)]: raw(0, 1) }, []),
      'has 65536 bytes, at most 65535',
    ],
    [
      'an alignment of 24',
      () => gguf({ ...llama, 'general.alignment': { type: 'u32', value: 24 } }, []),
      '"general.alignment" is 24, expected a power of two',
    ],
    [
      'an alignment of 0',
      () => gguf({ ...llama, 'general.alignment': { type: 'u32', value: 0 } }, []),
      '"general.alignment" is 0, expected a power of two',
    ],
    [
      'an alignment of 16 bits',
      () => gguf({ ...llama, 'general.alignment': { type: 'u16', value: 32 } }, []),
      '"general.alignment" must be of type u32',
    ],
    ['a bool of 2', () => metadata(raw(7, 2)), '"x.key" is a bool with the value 2, expected 0 or 1'],
    ['a value of type 13', () => metadata(raw(13, 0)), '"x.key" has the value type 13, expected 0 to 12'],
    [
      'a list of type 13',
      () => metadata(raw(9, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
      '"x.key" is an array of the value type 13',
    ],
    ['lists five deep', () => metadata(nested(5)), '"x.key" has arrays nested deeper than 4 levels'],
    [
      'a split of 100,000 files',
      () => gguf({ ...llama, 'split.count': { type: 'u32', value: 100_000 } }, []),
      'split.count is 100000, at most 99999 are allowed',
    ],
    [
      'a split of 99,999 files',
      () => gguf({ ...llama, 'split.count': { type: 'u32', value: 99_999 } }, []),
      'is file 1 of 99999, its name must end with -00001-of-99999.gguf',
    ],
  ])('%s is refused', (_, bytes, message) => {
    expect(() => formats.openCheckpoint(fileOf(bytes()))).toThrow(message);
  });

  test('a list is as long as what is left of the file', () => {
    const list = (...rest: number[]) => {
      const file = metadata(raw(9, 4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, ...rest));
      return file.subarray(0, file.lastIndexOf(1) + 1);
    };
    expect(key(raw(9, 4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1))).toEqual([1, 2 ** 24 + 1]);
    expect(() => formats.readGguf(list(1, 1, 1, 1, 1, 1, 1, 1))).not.toThrow();
    expect(() => formats.readGguf(list(1, 1, 1, 1, 1, 1, 1))).toThrow(
      '"x.key" declares 2 elements, the file has only 7 more bytes',
    );
  });

  test('one file that says that it is one of one is a whole model', () => {
    const file = gguf({ ...llama, 'split.count': { type: 'u32', value: 1 } }, [tensor('a', [1])]);
    expect(formats.openCheckpoint(fileOf(file, 'any.gguf')).tensors).toHaveLength(1);
  });
});

describe('safetensors', () => {
  const headerOf = (length: number, rest = 0) => {
    const file = Buffer.alloc(8 + rest, ' ');
    file.writeBigUInt64LE(BigInt(length));
    return file;
  };
  const entry = (shape: unknown, data_offsets: unknown, dtype: unknown = 'U8') => ({ dtype, shape, data_offsets });
  const one = (described: unknown, bytes = 4) =>
    Buffer.concat([safetensors({}, () => ({ a: described })), new Uint8Array(bytes)]);
  test.each<[string, Uint8Array, string]>([
    ['seven bytes', headerOf(0).subarray(0, 7), 'the file has 7 bytes, a safetensors file begins with an 8-byte'],
    ['a header of nothing', headerOf(0), 'is not valid JSON at byte 0: the text ends early'],
    ['a byte less than its header', headerOf(3, 2), 'a header of 3 bytes is declared, the file has 10 bytes'],
    ['as much as is read', headerOf(100_000_000), 'a header of 100000000 bytes is declared, the file has 8 bytes'],
    ['more than is read', headerOf(100_000_001), '100000001 bytes is declared, at most 100000000 are allowed'],
    ['nine dimensions', one(entry([1, 1, 1, 1, 1, 1, 1, 1, 4], [0, 4])), 'has 9 dimensions, at most 8 are allowed'],
    ['no dtype', one(entry([4], [0, 4], 3)), 'tensor "a" has no dtype'],
    ['no shape', one(entry(4, [0, 4])), 'tensor "a" has no list "shape"'],
    ['a broken shape', one(entry([4.5], [0, 4])), 'has in "shape" something that is not a whole number'],
    [
      'a negative shape',
      one(entry([-4], [0, 4])),
      'has in "shape" something that is not a whole number from 0 to 2^63',
    ],
    ['three offsets', one(entry([4], [0, 4, 4])), 'has 3 data_offsets, begin and end are needed'],
    ['the end before the beginning', one(entry([0], [4, 3])), 'begins at byte 4, after its end 3'],
    ['a byte behind the end', one(entry([5], [0, 5])), 'ends at byte 5, the file has 4 bytes of data'],
    ['a byte too many', one(entry([3], [0, 4])), 'has 4 bytes, its type and shape need 3'],
    ['a gap at the end', one(entry([3], [0, 3])), '1 bytes after the last tensor belong to no tensor'],
    ['a gap before it', one(entry([3], [1, 4])), 'leaves a gap before it: bytes 0 to 1 belong to no tensor'],
    ['metadata that is no text', one({}, 0), 'tensor "a" has no dtype'],
    [
      'a number among the metadata',
      safetensors({}, () => ({ __metadata__: { format: 'pt', n: 3 } })),
      '__metadata__ "n" is not a string',
    ],
  ])('%s is refused', (_, file, message) => {
    expect(() => formats.readSafetensors(file)).toThrow(message);
  });

  test('eight dimensions, a scalar and what is empty are read', () => {
    expect(formats.readSafetensors(one(entry([1, 1, 1, 1, 1, 1, 1, 4], [0, 4])))).toMatchObject([{ bytes: 4 }]);
    expect(formats.readSafetensors(one(entry([], [0, 4], 'F32')))).toMatchObject([{ shape: [], bytes: 4 }]);
    expect(formats.readSafetensors(one(entry([0], [0, 0]), 0))).toMatchObject([{ shape: [0], bytes: 0 }]);
  });
});

const bytes = (dtype: string, shape: number[], ...values: number[]): StoredTensor => ({
  dtype,
  shape,
  bytes: Uint8Array.from(values),
});
const model = (tensors: Record<string, StoredTensor>, config: object = {}) =>
  temporaryFolder({ 'config.json': JSON.stringify(config), 'model.safetensors': safetensors(tensors) });

describe('a configuration', () => {
  const padded = (size: number) =>
    temporaryFolder({ 'config.json': '{}'.padEnd(size), 'model.safetensors': safetensors({}) });
  test('of four megabytes is read, and no byte more', () => {
    expect(formats.openCheckpoint(padded(4 << 20)).tensors).toEqual([]);
    expect(() => formats.openCheckpoint(padded((4 << 20) + 1))).toThrow('has 4194305 bytes; at most 4194304 are read');
  });
  test('that is a folder is refused', () => {
    const folder = temporaryFolder({ 'model.safetensors': safetensors({}) });
    mkdirSync(join(folder, 'config.json'));
    expect(() => formats.openCheckpoint(folder)).toThrow('is not a regular file');
  });
});

test('an index names a shard that is one of a folder, and other files of the folder stand alone', () => {
  const folder = temporaryFolder({ 'config.json': '{}', 'a.safetensors': safetensors({ a: bytes('U8', [1], 7) }) });
  writeFileSync(join(folder, 'b.safetensors'), safetensors({ b: bytes('U8', [1], 8), c: bytes('U8', [1], 9) }));
  writeFileSync(
    join(folder, 'model.safetensors.index.json'),
    JSON.stringify({ weight_map: { b: 'b.safetensors', c: 'b.safetensors' } }),
  );
  const names = (path: string) => formats.openCheckpoint(path).tensors.map(({ name, file }) => [name, file]);
  expect(names(join(folder, 'a.safetensors'))).toEqual([['a', 0]]);
  expect(names(join(folder, 'b.safetensors'))).toEqual([
    ['b', 0],
    ['c', 0],
  ]);
  expect(names(folder)).toHaveLength(2);
});

describe('FP8', () => {
  const codes = (rows: number, columns: number) =>
    bytes('F8_E4M3', [rows, columns], ...new Uint8Array(rows * columns).fill(0x38));
  const scales = (...values: number[]): StoredTensor => ({
    dtype: 'F32',
    shape: [values.length],
    bytes: f32(...values),
  });
  test('blocks at the edges of a matrix are smaller, and each has its scale', () => {
    const folder = model(
      { 'l.weight': codes(3, 5), 'l.weight_scale_inv': scales(1, 2, 3, 4, 5, 6) },
      { quantization_config: { weight_block_size: [2, 2] } },
    );
    expect([...formats.dequantise(folder, 'l.weight')]).toEqual([1, 1, 2, 2, 3, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6]);
  });
  test('a scale a row, and powers of two of eight bits', () => {
    expect([
      ...formats.dequantise(model({ 'l.weight': codes(2, 2), 'l.weight_scale': scales(2, 3) }), 'l.weight'),
    ]).toEqual([2, 2, 3, 3]);
    const exponents = { dtype: 'F8_E8M0', shape: [2], bytes: Uint8Array.of(126, 129) };
    const folder = model({ 'l.weight': codes(2, 1), 'l.weight_scale': exponents, 'l.input_scale': scales(9) });
    expect([...formats.dequantise(folder, 'l.weight')]).toEqual([0.5, 4]);
    expect(formats.openCheckpoint(folder).tensors.map(({ name }) => name)).toEqual(['l.weight']);
  });
  test.each([
    [[2], 'is not a list of two whole numbers above 0'],
    [[2, 0], 'is not a list of two whole numbers above 0'],
    [[2, 1.5], 'is not a list of two whole numbers above 0'],
    [[2, 2, 2], 'is not a list of two whole numbers above 0'],
    [[2, 2], 'has 5 scales; allowed for 3 rows of 5: 1, one a row, or one a block of 2 x 2 (6 a matrix)'],
    [null, 'has 5 scales; allowed for 3 rows of 5: 1, one a row, or one a block of 128 x 128 (1 a matrix)'],
  ])('blocks of %j', (weight_block_size, message) => {
    const folder = model(
      { 'l.weight': codes(3, 5), 'l.weight_scale_inv': scales(1, 2, 3, 4, 5) },
      { quantization_config: { weight_block_size } },
    );
    expect(() => formats.openCheckpoint(folder)).toThrow(message);
  });
});
