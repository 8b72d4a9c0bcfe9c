// How large a tokenizer may be: at each limit it is taken, one above it is refused with both numbers.
import { expect, test } from 'vitest';
import { demandModest, demandModestList, demandModestMerges } from '../../../../app/text/tokenizer/limits.ts';

type Json = Parameters<typeof demandModest>[0];
const some: Json = { added_tokens: [], model: { type: 'BPE', vocab: {}, merges: [] } };
const added = (count: number, content: string) => ({ ...some, added_tokens: Array(count).fill({ content }) });
const model = (more: object): Json => ({ ...some, model: { ...some.model, ...more } });
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, at]));
const part = (value: unknown): Json => ({ ...some, normalizer: value });
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
const typed = (count: number): Json => ({ ...some, decoder: Array(count).fill({ type: 'Fuse' }) });

test.each<[string, number, (size: number) => Json]>([
  ['added_tokens', 262_144, (size) => added(size, 'a')],
  ['added_tokens of white space', 10_000, (size) => added(size, ' ')],
  [
    'characters of added_tokens',
    4_000_000,
    (size) => ({
      ...some,
      added_tokens: [
        ...Array(40_000).fill({ content: 'a'.repeat(100) }),
        ...Array(size - 4_000_000).fill({ content: 'b' }),
      ],
    }),
  ],
  [
    'characters of added_tokens of white space',
    100_000,
    (size) => ({
      ...some,
      added_tokens: [
        ...Array(1000).fill({ content: ' '.repeat(100) }),
        ...Array(size - 100_000).fill({ content: ' ' }),
      ],
    }),
  ],
  ['characters of an added token', 256, (size) => added(1, 'a'.repeat(size))],
  ['model.vocab', 400_000, (size) => model({ vocab: names(size) })],
  ['characters of a token in model.vocab', 1024, (size) => model({ vocab: { ['a'.repeat(size)]: 0 } })],
  ['characters of a token in model.vocab', 128, (size) => model({ type: 'Unigram', vocab: { ['a'.repeat(size)]: 0 } })],
  ['characters of a token in model.vocab', 128, (size) => model({ vocab: [['a'.repeat(size), 0], 7] })],
  ['model.vocab and model.merges', 640_000, (size) => model({ vocab: names(2), merges: Array(size - 2).fill('a b') })],
  ['characters of a merge', 2049, (size) => model({ merges: ['a'.repeat(size)] })],
  ['characters of a merge', 2049, (size) => model({ merges: [['a'.repeat(size - 1), 'b']] })],
  ['characters of model.unk_token', 64, (size) => model({ unk_token: 'a'.repeat(size), dropout: 7 })],
  ['characters of normalizer.content', 64, (size) => part({ content: 'a'.repeat(size) })],
  ['characters of normalizer.list.prepend', 64, (size) => part({ list: [{ prepend: 'a'.repeat(size) }] })],
  ['characters of normalizer.pattern', 10_000, (size) => part({ pattern: 'a'.repeat(size) })],
  [
    'characters of normalizer.precompiled_charsmap',
    8_000_000,
    (size) => part({ precompiled_charsmap: 'a'.repeat(size) }),
  ],
  ['entries of normalizer.list', 1000, (size) => part({ list: Array(size).fill(null) })],
  ['parts of the tokenizer', 100, typed],
])('%s: %i', (what, most, of) => {
  expect(() => demandModest(of(most))).not.toThrow();
  expect(() => demandModest(of(most + 1))).toThrow(`[tokenizer] ${what}: got ${most + 1}, at most ${most} are allowed`);
});

test('parts may stand sixteen deep, wherever they stand', () => {
  for (const key of ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder']) {
    expect(() => demandModest({ ...some, [key]: nested(16) })).not.toThrow();
    expect(() => demandModest({ ...some, [key]: nested(17) })).toThrow(/depth of .*: got 17, at most 16 are allowed/);
  }
});

test.each([0, -1, 1.5, '3', undefined])('pieces of a fixed length of %s are refused', (length) => {
  expect(() => demandModest(part({ type: 'FixedLength', length }))).toThrow('expected a whole number from 1');
  expect(() => demandModest(part({ type: 'FixedLength', length: 1 }))).not.toThrow();
});

test.each<[string, number, (size: number) => void]>([
  ['tokens', 400_000, (size) => demandModestList(Array(size).fill('a'), false)],
  ['characters of a token', 1024, (size) => demandModestList(['a'.repeat(size)], false)],
  ['merges', 640_000, demandModestMerges],
])('of a GGUF file, %s: %i', (what, most, demand) => {
  expect(() => demand(most)).not.toThrow();
  expect(() => demand(most + 1)).toThrow(`[tokenizer] ${what}: got ${most + 1}, at most ${most} are allowed`);
});

test('tokens that are divided everywhere may cost 200 million characters', () => {
  const tokens = Array(20_000).fill('a'.repeat(100));
  expect(() => demandModestList(tokens, true)).not.toThrow();
  expect(() => demandModestList([...tokens, 'a'], true)).toThrow(
    'characters of divided tokens: got 200000001, at most 200000000',
  );
  expect(() => demandModestList([...tokens, 'a'], false)).not.toThrow();
});
