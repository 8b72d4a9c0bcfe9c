import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test, vi } from 'vitest';
import { tallyOf } from '../tally.ts';

//  A tokenizer.json is an untrusted program too: patterns, replacements, tables. It runs when a model is inspected.

vi.setConfig({ testTimeout: 240_000 });
const tally = tallyOf('tokenizers');
const LIMIT_MB = 400;
/** Processor time, independent of other load. */
const LIMIT_CPU_MS = 10_000;
/** After this time it counts as hung. */
const HUNG_MS = 90_000;

const good = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../golden/tokenizers/bpe_smollm/tokenizer.json'), 'utf8'),
);
const text = `${'a'.repeat(20_000)} ${'the quick brown fox '.repeat(500)}${' '.repeat(2000)}é漢😀!?`;
const split = (Regex: string, more: object = {}) => ({
  pre_tokenizer: { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false, ...more },
});
const replace = (pattern: object, content: string) => ({ type: 'Replace', pattern, content });
const sequence = (...normalizers: object[]) => ({ normalizer: { type: 'Sequence', normalizers } });
const cuts = (...pretokenizers: object[]) => ({ pre_tokenizer: { type: 'Sequence', pretokenizers } });
const range = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i));
const added = (contents: string[]) => ({
  added_tokens: contents.map((content, i) => ({ id: 700 + i, content, special: true })),
});
const unigram = (vocab: [string, number][]) => ({ pre_tokenizer: null, model: { type: 'Unigram', unk_id: 0, vocab } });
const nested = (depth: number): object =>
  depth === 0 ? { type: 'Lowercase' } : { type: 'Sequence', normalizers: [nested(depth - 1)] };

/** Parts of a tokenizer.json, and the text to tokenize. */
const GREEDY: Record<string, object> = {
  '(?:a+)+$': split('(?:a+)+$'),
  '(a+)+$ in groups': split('(a+)+$'),
  '(a|a)*b': split('(a|a)*b'),
  '(a|aa)+$': split('(a|aa)+$'),
  '(.*)*x': split('(.*)*x'),
  '(.*a){20}x': split('(?:.*a){20}x'),
  'a*a*a*a*a*b': split('a*a*a*a*a*a*b'),
  '(\\w+\\s?)+$': split('(?:\\w+\\s?)+@'),
  '(\\s+)+x': split('(?:\\s+)+x'),
  'possessive that is not one': split('(?:a++)++b'),
  'looking ahead for ever': split('(?=(?:a+)+b)a|.'),
  'looking behind for ever': split('(?<=(?:a+)+)b|.'),
  'looking ahead in loops': split('(?:(?=a+b)a)*b|a'),
  'a reference back': split('(a+)\\1+b'),
  'a named reference back': split('(?<x>a+)\\k<x>+b'),
  'counts in counts': split('(?:(?:a{0,100}){0,100}){0,100}b'),
  'a count of a billion': split('a{1000000000}'),
  'groups in groups': split(`${'('.repeat(5000)}a${')'.repeat(5000)}`),
  'classes in classes': split(`${'['.repeat(5000)}a${']'.repeat(5000)}`),
  'a pattern of a million letters': split('a|'.repeat(500_000)),
  'ten thousand choices': split(range(1000, (i) => `a{${i % 50}}b${i}`).join('|')),
  nothing: split(''),
  'nothing, or nothing': split('(?:|)*'),
  inverted: split('(?:a+)+$', { invert: true }),
  removed: split('(?:a+)+$', { behavior: 'Removed' }),
  'thirty patterns': cuts(...range(30, () => split('(?:a+)+$').pre_tokenizer)),
  'two hundred patterns': cuts(...range(200, () => split('(?:a+)+$').pre_tokenizer)),
  'a normalizer with a pattern': sequence(replace({ Regex: '(?:a+)+$' }, 'x')),
  'a replacement that doubles, thirty times': sequence(...range(30, () => replace({ String: 'a' }, 'aa'))),
  'a replacement by a megabyte': sequence(replace({ String: 'a' }, 'x'.repeat(1_000_000))),
  'a replacement of nothing': sequence(...range(20, () => replace({ String: '' }, 'xxxxxxxx'))),
  'a replacement by what stands before it': sequence(...range(8, () => replace({ String: 'a' }, "$`$'$&"))),
  'a replacement by a pattern for nothing': sequence(...range(20, () => replace({ Regex: '' }, 'xxxxxxxx'))),
  'a prefix of a megabyte': sequence({ type: 'Prepend', prepend: 'x'.repeat(1_000_000) }),
  'a thousand normalizers': sequence(...range(1000, () => ({ type: 'NFKD' }))),
  'normalizers in normalizers': { normalizer: nested(1000) },
  'fifty times NFKD': sequence(...range(50, () => ({ type: 'NFKD' }))),
  'replacing in the pre-tokenizer': cuts(...range(30, () => replace({ String: 'a' }, 'aa'))),
  'words of length 0': { pre_tokenizer: { type: 'FixedLength', length: 0 } },
  'words of length -1': { pre_tokenizer: { type: 'FixedLength', length: -1 } },
  'words of length 1e-9': { pre_tokenizer: { type: 'FixedLength', length: 1e-9 } },
  'words of no length': { pre_tokenizer: { type: 'FixedLength' } },
  'spaces that become a megabyte': { pre_tokenizer: { type: 'Metaspace', replacement: 'x'.repeat(1_000_000) } },
  'spaces that become spaces': cuts(
    ...range(40, () => ({ type: 'Metaspace', replacement: '    ', prepend_scheme: 'never' })),
  ),
  'bytes of bytes': cuts(...range(40, () => ({ type: 'ByteLevel', use_regex: false, add_prefix_space: false }))),
  '300,000 added tokens': added(range(300_000, (i) => `<|${i}|>`)),
  '260,000 added tokens': added(range(260_000, (i) => `<|${i}|>`)),
  'added tokens that begin alike': added(range(250, (i) => 'a'.repeat(i + 1))),
  'added tokens of a million letters': added(range(10, (i) => `${'a'.repeat(1_000_000)}${i}`)),
  '20,000 added tokens of white space': added(range(20_000, (i) => ' '.repeat((i % 200) + 1))),
  'an added token of a million spaces': added([' '.repeat(1_000_000)]),
  'an added token with a high number': { added_tokens: [{ id: 2 ** 31, content: 'x' }] },
  'a vocabulary with a high number': { model: { ...good.model, vocab: { a: 2 ** 24 } } },
  'a token of a million letters': {
    model: { ...good.model, vocab: { ...good.model.vocab, ['a'.repeat(1_000_000)]: 800 } },
  },
  'merges of long tokens': {
    pre_tokenizer: null,
    model: { ...good.model, merges: range(5000, (i) => [`${'a'.repeat(i + 1)}`, 'a']) },
  },
  'merges that double': {
    pre_tokenizer: null,
    model: { ...good.model, merges: range(10, (i) => ['a'.repeat(2 ** i), 'a'.repeat(2 ** i)]) },
  },
  'a suffix of a megabyte': { model: { ...good.model, end_of_word_suffix: 'x'.repeat(1_000_000) } },
  'another suffix of a megabyte': { model: { ...good.model, continuing_subword_suffix: 'x'.repeat(1_000_000) } },
  'words that are looked for by their whole rest': {
    pre_tokenizer: null,
    decoder: { type: 'WordPiece', prefix: '##' },
    model: {
      type: 'WordPiece',
      unk_token: 'u',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 1e9,
      vocab: { u: 0, a: 1, '##a': 2 },
    },
  },
  'a prefix of words of a megabyte': {
    pre_tokenizer: null,
    model: {
      type: 'WordPiece',
      unk_token: 'u',
      continuing_subword_prefix: '#'.repeat(1_000_000),
      max_input_chars_per_word: 1e9,
      vocab: { u: 0, a: 1 },
    },
  },
  'every run of letters is a token': unigram([
    ['<unk>', 0],
    ...range(120, (i): [string, number] => ['a'.repeat(i + 1), -i]),
  ]),
  'every run of letters, to 5,000, is a token': unigram([
    ['<unk>', 0],
    ...range(5000, (i): [string, number] => ['a'.repeat(i + 1), -i]),
  ]),
  'scores that are no numbers': unigram([
    ['<unk>', Number.NaN],
    ['a', Number.NaN],
  ]),
  'a template of a million parts': {
    post_processor: {
      type: 'TemplateProcessing',
      single: range(1_000_000, () => ({ SpecialToken: { id: 'a', type_id: 0 } })),
      pair: [],
      special_tokens: {},
    },
  },
  'an unknown model': { model: { type: 'Legacy', vocab: { a: 0 } } },
  'a prototype': JSON.parse(
    '{"normalizer":{"type":"Replace","pattern":{"String":"a"},"content":"x","__proto__":{"x":1}}}',
  ),
};

let worker: Worker | null = null;
afterAll(() => worker?.terminate());

/** The result, or how the process ended. */
async function read(
  file: { json: string } | { gguf: Record<string, unknown> },
): Promise<{ tokens?: number; code?: string; message?: string; cpuMs?: number }> {
  worker ??= new Worker(join(import.meta.dirname, 'tokenizer-worker.ts'), {
    resourceLimits: { maxOldGenerationSizeMb: LIMIT_MB, maxYoungGenerationSizeMb: 64 },
    stderr: true,
  });
  const current = worker;
  const over = AbortSignal.timeout(HUNG_MS);
  try {
    current.postMessage({ ...file, text });
    const [answer] = await once(current, 'message', { signal: over });
    return answer;
  } catch (error) {
    worker = null;
    await current.terminate();
    return { code: 'hung or grown', message: over.aborted ? `longer than ${HUNG_MS} ms` : String(error) };
  }
}

function expectHarmless({ cpuMs = 0, ...answer }: Awaited<ReturnType<typeof read>>) {
  expect(cpuMs).toBeLessThan(LIMIT_CPU_MS);
  if (answer.code === undefined) expect(answer.tokens).toBeGreaterThanOrEqual(0);
  else {
    const message = expect.stringMatching(/^\[(tokenizer|gguf)\] .{10,400}$/s);
    expect(answer).toMatchObject({ code: 'model-broken', message });
  }
}

test('a greedy tokenizer is read in time and memory, or refused with a sentence', async () => {
  for (const [name, part] of Object.entries(GREEDY)) {
    await tally.refused(name, async () => {
      expectHarmless(await read({ json: JSON.stringify({ ...good, ...part }) }));
    });
  }
  // An ordinary one is still accepted.
  expect((await read({ json: JSON.stringify(good) })).tokens).toBeGreaterThan(100);
  tally.settle();
});

//  The same of a GGUF file, whose tokenizer is a few lists.

const letters = Array.from('abcdefghijklmnopqrstuvwxyz ▁!?');
const lists = (kind: 'gpt2' | 'llama' | 'bert', more: Record<string, unknown> = {}): Record<string, unknown> => ({
  model: kind,
  tokens: kind === 'bert' ? ['[CLS]', '[SEP]', '[UNK]', ...letters] : ['<unk>', ...letters],
  ...(kind === 'gpt2' && { pre: 'gpt-2', merges: ['a b'] }),
  ...(kind === 'llama' && { scores: ['<unk>', ...letters].map((_, id) => -id) }),
  ...more,
});
const scored = (tokens: string[], score = (id: number) => -id) =>
  lists('llama', { tokens: ['<unk>', ...tokens], scores: ['<unk>', ...tokens].map((_, id) => score(id)) });
const typed = (types: number[]) => lists('gpt2', { tokens: letters.slice(0, types.length), token_type: types });

const GGUF: Record<string, Record<string, unknown>> = {
  'a scored token of a million letters': scored(['a', 'a'.repeat(1_000_000)]),
  'a scored token of 16 million letters': scored(['a', 'a'.repeat(16_000_000)]),
  '2,000 scored tokens of up to 2,000 letters': scored(range(2000, (i) => 'a'.repeat(i + 1))),
  '20 scored tokens of 100,000 letters': scored(range(20, (i) => `${'a'.repeat(100_000)}${i}`)),
  '300,000 scored tokens of 50 letters': scored(range(300_000, (i) => `${i}`.padStart(50, 'ab'))),
  'every run of letters, to 6,000': scored(range(6000, (i) => 'a'.repeat(i + 1))),
  'every word of two letters': scored(range(2 ** 17 - 2, (i) => (i + 2).toString(2).slice(1))),
  'a million scored tokens': scored(range(1_000_000, (i) => `t${i}`)),
  'scores that are no numbers': scored(['a', 'aa'], () => Number.NaN),
  'endless scores': scored(['a', 'aa', 'aaa'], () => Number.POSITIVE_INFINITY),
  'too few scores': lists('llama', { scores: [0] }),
  'scores that are texts': lists('llama', { scores: ['0'] }),
  'no scores': lists('llama', { scores: undefined }),
  'an unknown token behind the end': lists('llama', { unknown_token_id: 2 ** 31 }),
  'a negative unknown token': lists('llama', { unknown_token_id: -1 }),
  'half a token': lists('llama', { bos_token_id: 0.5 }),
  'half a surrogate pair': scored(['\ud83e', '\udd8a', '\ud83e\udd8a']),
  'marks of bytes that are none': scored(['<0xGG>', '<0x100>', '<0x>', '<0x0A>', '<0x0A>']),
  'a million merges': lists('gpt2', { merges: range(1_000_000, (i) => `a ${i}`) }),
  'merges of what is not there': lists('gpt2', { merges: ['x y', 'nothing here', 'q q'] }),
  'merges without a space': lists('gpt2', { merges: ['ab', '', ' ', '  ', 'a b c d'] }),
  'merges of a million letters': lists('gpt2', { merges: [`${'a'.repeat(1_000_000)} b`] }),
  'merges that double': lists('gpt2', {
    tokens: range(20, (i) => 'a'.repeat(2 ** i)),
    merges: range(19, (i) => `${'a'.repeat(2 ** i)} ${'a'.repeat(2 ** i)}`),
  }),
  'merges that are numbers': lists('gpt2', { merges: [1, 2] }),
  'no merges': lists('gpt2', { merges: undefined }),
  'an unknown way to split': lists('gpt2', { pre: 'no-such-way' }),
  'a way to split named as a prototype': lists('gpt2', { pre: '__proto__' }),
  'a way to split named as a constructor': lists('gpt2', { pre: 'constructor' }),
  'a way to split of a megabyte': lists('gpt2', { pre: 'x'.repeat(1_000_000) }),
  'tokens named as prototypes': lists('gpt2', { tokens: ['__proto__', 'constructor', 'toString', 'a', 'b'] }),
  'the same token 100,000 times': lists('gpt2', { tokens: range(100_000, () => 'a') }),
  'empty tokens': lists('gpt2', { tokens: range(1000, () => '') }),
  'no token': lists('gpt2', { tokens: [] }),
  'tokens that are objects': lists('gpt2', { tokens: [{}] }),
  'types of another length': lists('gpt2', { token_type: [1] }),
  'types that there are not': typed([99, -1, 2 ** 31]),
  'only control tokens': typed(letters.map(() => 3)),
  '30,000 control tokens that begin alike': lists('gpt2', {
    tokens: range(30_000, (i) => 'a'.repeat((i % 300) + 1) + i),
    token_type: range(30_000, () => 3),
  }),
  '30,000 tokens of a user': lists('gpt2', {
    tokens: range(30_000, (i) => `<${i}>`),
    token_type: range(30_000, () => 4),
  }),
  'a control token of a million letters': lists('gpt2', { tokens: ['a', 'a'.repeat(1_000_000)], token_type: [1, 3] }),
  'a beginning that is also the end': lists('gpt2', { bos_token_id: 0, eos_token_id: 0, add_bos_token: true }),
  'an end behind the end': lists('gpt2', { eos_token_id: 10_000 }),
  'no words of a class': lists('bert', { tokens: ['a', 'b'] }),
  'a word of a class behind the end': lists('bert', { cls_token_id: 9999 }),
  'a mask of a million letters': lists('bert', { tokens: ['[CLS]', '[SEP]', '[UNK]', `[${'a'.repeat(1_000_000)}]`] }),
  'every run of letters in words': lists('bert', {
    tokens: ['[CLS]', '[SEP]', '[UNK]', ...range(4000, (i) => `▁${'a'.repeat(i + 1)}`)],
  }),
  'an unknown kind': { model: 'rwkv', tokens: ['a'] },
  'a kind that is a list': { model: ['gpt2'], tokens: ['a'] },
  nothing: {},
};

test('a greedy tokenizer of a GGUF file is read in time and memory, or refused with a sentence', async () => {
  const named = (values: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [`tokenizer.ggml.${key}`, value]));
  for (const [name, values] of Object.entries(GGUF)) {
    await tally.refused(`GGUF: ${name}`, async () => {
      const answer = await read({ gguf: named(values) });
      expectHarmless(answer);
      if (name.startsWith('a way to split')) expect(answer.code).toBe('model-broken');
    });
  }
  expect((await read({ gguf: named(lists('llama')) })).tokens).toBeGreaterThan(100);
  tally.settle();
});
