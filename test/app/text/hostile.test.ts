import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { LonghandError } from '../../../app/protocol/errors.ts';
import { TemplateError } from '../../../app/text/jinja/meter.ts';
import { renderJinja } from '../../../app/text/jinja/render.ts';
import { modelTextFromFiles } from '../../../app/text/model-text.ts';
import { createDetokenizer, decode } from '../../../app/text/tokenizer/detokenizer.ts';
import { createTokenizer } from '../../../app/text/tokenizer/tokenizer.ts';
import { fuzzed, fuzzLimitMs } from '../../support/soak.ts';

vi.setConfig({ testTimeout: fuzzLimitMs(60_000) });

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const files = [
  'resources/starter-model/tokenizer.json',
  'test/golden/tokenizers/bpe_smollm/tokenizer.json',
  'test/golden/tokenizers/sp_bpe/tokenizer.json',
];

describe.each(files)('%s', (file) => {
  const tokenizer = createTokenizer(read(file));

  test('lone surrogates, NUL and the empty text', () => {
    expect(tokenizer.encodeText('')).toEqual([]);
    expect(tokenizer.encode([])).toEqual([]);
    expect(decode(tokenizer, tokenizer.encodeText('a\ud800b\udc00'))).toBe('a\ufffdb\ufffd');
    expect(decode(tokenizer, tokenizer.encodeText('a\0b'))).toBe('a\0b');
  });

  const million = 1_000_000;
  const length = 200_000;
  test.each([
    ['spaces', ' '.repeat(million)],
    ['spaces and a letter', `${' '.repeat(million)}a`],
    ['newlines', '\n'.repeat(length)],
    ['one letter', 'a'.repeat(length)],
    ['letters with marks', 'a\u0301'.repeat(length / 2)],
    ['marks', '\u0301\u0323'.repeat(length / 2)],
    ['half markers', '<|im_'.repeat(length / 5)],
    ['digits', '1'.repeat(length)],
    ['signs', '!?'.repeat(length / 2)],
  ])(
    'a flood of %s takes time in proportion',
    (_, text) => {
      // Of the processor, not of the clock: beside other work a longer text waits longer.
      const timed = (part: string) => {
        const start = process.cpuUsage();
        const ids = tokenizer.encode(tokenizer.split(part));
        const { user, system } = process.cpuUsage(start);
        return { ids, ms: (user + system) / 1000 };
      };
      const small = timed(text.slice(0, text.length / 8));
      const whole = timed(text);
      expect(whole.ids.length).toBeGreaterThan(0);
      expect(whole.ms, `${small.ms} ms for an eighth`).toBeLessThan(Math.max(small.ms * 24, 2000));
    },
    60_000,
  );

  test('text goes there and back, in one piece and token by token (fuzz)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        const ids = tokenizer.encodeText(text);
        const detokenizer = createDetokenizer(tokenizer);
        const pieces = ids.map((id) => detokenizer.push(id));
        const whole = text.toWellFormed();
        const streamed = pieces.join('') + detokenizer.flush();
        expect([whole, whole.normalize('NFC')]).toContain(streamed);
        for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
      }),
      fuzzed(500),
    );
  });
});

describe('a malformed tokenizer.json is a sentence, never a crash (fuzz)', () => {
  const good = read('test/golden/tokenizers/bpe_smollm/tokenizer.json');

  test.each([
    ['null', null],
    ['a list', []],
    ['no model', { added_tokens: [] }],
    ['a vocabulary of strings', { ...good, model: { ...good.model, vocab: { a: 'x' } } }],
    ['a negative id', { ...good, model: { ...good.model, vocab: { a: -1 } } }],
    ['a huge id', { ...good, model: { ...good.model, vocab: { a: 4e9 } } }],
    ['merges that are numbers', { ...good, model: { ...good.model, merges: [1, 2] } }],
    ['no merges', { ...good, model: { type: 'BPE', vocab: {} } }],
    ['an unknown pre-tokenizer', { ...good, pre_tokenizer: { type: 'Nobody' } }],
    ['a broken pattern', { ...good, pre_tokenizer: { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated' } }],
    ['added tokens without text', { ...good, added_tokens: [{ id: 1 }] }],
  ])('%s', (_, json) => {
    expect(() => createTokenizer(json)).toThrow(LonghandError);
  });

  test('any value in any place', () => {
    const paths = ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder', 'model', 'added_tokens'];
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 4 }), (path, value) => {
        try {
          const tokenizer = createTokenizer({ ...good, [path]: value });
          decode(tokenizer, tokenizer.encodeText('Hello 1\n'));
        } catch (error) {
          expect(error).toBeInstanceOf(LonghandError);
          expect((error as Error).message).toMatch(/^\[tokenizer\] /);
        }
      }),
      fuzzed(1000),
    );
  });
});

test('any text as a template is rendered or refused (fuzz)', () => {
  const words = [
    '{{',
    '}}',
    '{%',
    '%}',
    '{#',
    '#}',
    '-',
    '+',
    ' if ',
    ' for x in ',
    ' endfor ',
    ' endif ',
    ' else ',
    ' set x = ',
    ' raw ',
    ' endraw ',
    'messages',
    '[0]',
    '.content',
    '|',
    'tojson',
    'trim',
    '(',
    ')',
    '"',
    "'",
    '\\',
    '\n',
    '1',
    ' ~ ',
    ' in ',
    ' is ',
    'macro m()',
    'loop',
    ',',
  ];
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 })), { maxLength: 30 }),
      (parts) => {
        try {
          expect(
            typeof renderJinja(
              parts.join(''),
              { messages: [{ role: 'user', content: 'hi' }] },
              { steps: 10_000, characters: 10_000 },
            ),
          ).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      },
    ),
    fuzzed(3000),
  );
});

test('files around the tokenizer name the file and the key', () => {
  const tokenizer = read(files[0] ?? '');
  expect(() => modelTextFromFiles({})).toThrow('[tokenizer] tokenizer.json is missing');
  expect(() => modelTextFromFiles({ tokenizer, generationConfig: { eos_token_id: 'x' } })).toThrow(
    '[generation_config.json] eos_token_id',
  );
  expect(() => modelTextFromFiles({ tokenizer, tokenizerConfig: { chat_template: 5 } })).toThrow(
    '[tokenizer_config.json] chat_template',
  );
  expect(modelTextFromFiles({ tokenizer, generationConfig: { do_sample: false, temperature: 9 } }).sampling).toEqual({
    temperature: 0,
  });
});
