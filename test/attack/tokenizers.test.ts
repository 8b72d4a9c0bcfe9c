import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test, vi } from 'vitest';
import { tallyOf } from './tally.ts';

//  A tokenizer.json is an untrusted program too: patterns, replacements, tables. It runs when a model is inspected.

vi.setConfig({ testTimeout: 240_000 });
const LIMIT_MB = 400;
/** Processor time, independent of other load. */
const LIMIT_CPU_MS = 10_000;
/** After this time it counts as hung. */
const HUNG_MS = 90_000;

const good = JSON.parse(
  readFileSync(join(import.meta.dirname, '../golden/tokenizers/bpe_smollm/tokenizer.json'), 'utf8'),
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
async function read(json: string): Promise<{ tokens?: number; code?: string; message?: string; cpuMs?: number }> {
  worker ??= new Worker(join(import.meta.dirname, 'tokenizer-worker.ts'), {
    resourceLimits: { maxOldGenerationSizeMb: LIMIT_MB, maxYoungGenerationSizeMb: 64 },
    stderr: true,
  });
  const current = worker;
  const over = AbortSignal.timeout(HUNG_MS);
  try {
    current.postMessage({ json, text });
    const [answer] = await once(current, 'message', { signal: over });
    return answer;
  } catch (error) {
    worker = null;
    await current.terminate();
    return { code: 'hung or grown', message: over.aborted ? `longer than ${HUNG_MS} ms` : String(error) };
  }
}

test('a greedy tokenizer is read in time and memory, or refused with a sentence', async () => {
  const tally = tallyOfTokenizers;
  for (const [name, part] of Object.entries(GREEDY)) {
    await tally.refused(name, async () => {
      const { cpuMs, ...answer } = await read(JSON.stringify({ ...good, ...part }));
      if (cpuMs !== undefined) expect(cpuMs).toBeLessThan(LIMIT_CPU_MS);
      if (answer.code === undefined) expect(answer.tokens).toBeGreaterThanOrEqual(0);
      else
        expect(answer).toMatchObject({
          code: 'model-broken',
          message: expect.stringMatching(/^\[tokenizer\] .{10,400}$/s),
        });
    });
  }
  // An ordinary one is still accepted.
  expect((await read(JSON.stringify(good))).tokens).toBeGreaterThan(100);
  tally.settle();
});

const tallyOfTokenizers = tallyOf('tokenizers');
