// What a mask allows is what every token says when it is asked by itself, for vocabularies of every kind.
import { describe, expect, test } from 'vitest';
import { addon } from '../../support/addon.ts';
import { allowed, randomFrom, type Words, wordsOf, writeAtRandom } from '../../support/models/grammar.ts';

const person = JSON.stringify({
  type: 'object',
  properties: {
    name: { type: 'string' },
    'näme "x"': { type: 'string', maxLength: 5 },
    age: { type: 'integer', minimum: -3, maximum: 150 },
    tags: { type: 'array', items: { enum: ['a', 'bb', 'c\n'] }, maxItems: 3 },
    parent: { $ref: '#' },
  },
  required: ['name'],
});
const grammars = [
  ['json-schema', person],
  ['json-schema', 'true'],
  ['json-schema', '{"type":"string","pattern":"^[A-Z]+-\\\\d{2,4}$"}'],
  ['regex', '(?:[^0-9\\s]|\\u{1f600}){1,12}|\\d{3}( \\d+)*'],
  ['gbnf', 'root ::= sum\nsum ::= term ("+" term)*\nterm ::= [0-9]+ | "(" sum ")" | word?\nword ::= [a-zé-ü]+'],
] as const;

describe.each(['bpe_qwen2', 'bpe_llama3', 'bpe_smollm', 'sp_bpe', 'qwen3'])('%s', (name) => {
  test('masks are what every token says by itself', async () => {
    const words = await wordsOf(name);
    let looked = 0;
    for (const [index, [kind, source]] of grammars.entries()) {
      const grammar = await words.vocabulary.grammar(kind, source);
      const random = randomFrom(index + 7);
      const look = (ids: Int32Array) => {
        if (name === 'qwen3' && random() < 0.6) return;
        looked++;
        expect(grammar.after(ids)?.allowed).toEqual(grammar.admits(ids));
      };
      for (let text = 0; text < 3; text++) writeAtRandom(grammar, words, random, { freely: 15, most: 40, look });
    }
    expect(looked).toBeGreaterThan(60);
  });
});

describe('texts', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const ends = Uint32Array.from({ length: 256 }, (_, byte) => byte + 1);
  const fits = async (kind: 'json-schema' | 'regex' | 'gbnf', source: string) => {
    const grammar = await (await addon.vocabulary(bytes, ends)).grammar(kind, source);
    return (text: string) => grammar.after(Int32Array.from(Buffer.from(text)))?.ends ?? false;
  };

  test.each(['a*b', '(ab|ba)*', '(a?b{1,2}){2}c?', '[^a]b|a[b-c]*', 'a(b|)c|', '((a|b)*c){0,2}', '(?:a+?|b)??c'])(
    '%s matches what it matches in JavaScript',
    async (pattern) => {
      const matches = await fits('regex', pattern);
      const expected = new RegExp(`^(?:${pattern})$`);
      for (let length = 0; length <= 6; length++) {
        for (let number = 0; number < 3 ** length; number++) {
          const text = [...Array(length).keys()].map((at) => 'abc'[Math.floor(number / 3 ** at) % 3]).join('');
          expect([text, matches(text)]).toEqual([text, expected.test(text)]);
        }
      }
    },
  );

  test('classes of characters are those of JavaScript, in every plane', async () => {
    for (const pattern of ['\\s', '\\W', '[^\\x00-\\u07ff]', '[\\u0700-\\u{10001}]', '.']) {
      const matches = await fits('regex', pattern);
      const expected = new RegExp(`^${pattern}$`, 'u');
      for (let code = 0; code < 0x110000; code += code < 0x3100 ? 1 : 977) {
        if (code >= 0xd800 && code < 0xe000) continue;
        const text = String.fromCodePoint(code);
        if (matches(text) !== expected.test(text)) expect.fail(`${pattern} and U+${code.toString(16)}`);
      }
    }
  });

  test('no text is let in that is no UTF-8', async () => {
    const grammar = await (await addon.vocabulary(bytes, ends)).grammar('regex', '[\\s\\S]*');
    for (const broken of [[0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80], [0xff]]) {
      expect(grammar.after(Int32Array.from(broken))).toBeNull();
    }
  });

  test('numbers stay between their bounds', async () => {
    for (const [least, most] of [
      [-12, 105],
      [0, 0],
      [-250, -9],
      [7, 7000],
      [99, 100],
    ] as const) {
      const matches = await fits('json-schema', JSON.stringify({ type: 'integer', minimum: least, maximum: most }));
      for (let number = -400; number < 8000; number += number < 300 ? 1 : 13) {
        if (matches(String(number)) !== (number >= least && number <= most))
          expect.fail(`${number} in ${least}..${most}`);
      }
    }
    const matches = await fits('json-schema', '{"type":"number","exclusiveMinimum":-0.5,"maximum":1.25}');
    for (let number = -2000; number < 2000; number++) {
      const text = (number / 1000).toFixed(3);
      if (!text.startsWith('-0.000')) expect([text, matches(text)]).toEqual([text, number > -500 && number <= 1250]);
    }
  });

  test('a number has three places, or as many as its bounds', async () => {
    const half = await fits('json-schema', '{"type":"number","minimum":0.5,"maximum":1}');
    expect(['0.5', '0.625', '1'].map(half)).toEqual([true, true, true]);
    expect(['0.6251', '0.4'].map(half)).toEqual([false, false]);
    const fine = await fits('json-schema', '{"type":"number","minimum":0.12345,"maximum":1}');
    expect(['0.12345', '0.5'].map(fine)).toEqual([true, true]);
    expect(['0.123451', '0.12344'].map(fine)).toEqual([false, false]);
  });

  test.each([
    ['json-schema', (length: number) => 'true'.padEnd(length)],
    ['regex', (length: number) => `[${'a'.repeat(length - 2)}]`],
    ['gbnf', (length: number) => 'root ::= "a"'.padEnd(length)],
  ] as const)('%s: a source has at most a mebibyte', async (kind, source) => {
    const vocabulary = await addon.vocabulary(bytes, ends);
    expect((await vocabulary.grammar(kind, source(2 ** 20))).after(new Int32Array())).not.toBeNull();
    await expect(vocabulary.grammar(kind, source(2 ** 20 + 1))).rejects.toThrow('more than 1048576 bytes');
  });

  test('a dot of a grammar is any character, of every plane', async () => {
    const three = await fits('gbnf', 'root ::= "a" . . "z"');
    expect(['abcz', 'a\n"z', 'aé€z', 'a😀名z'].map(three)).toEqual([true, true, true, true]);
    expect(['abz', 'abcdz'].map(three)).toEqual([false, false]);
  });

  test('every escape of a grammar is the character that it names, in texts and in classes', async () => {
    const escapes = String.raw`root ::= "\n\r\t\x41\u00e9\U0001f600\\\"" [\u0061-\u0063\]\-\^]`;
    const matches = await fits('gbnf', escapes);
    for (const last of ['a', 'b', 'c', ']', '-', '^'])
      expect([last, matches(`\n\r\tAé😀\\"${last}`)]).toEqual([last, true]);
    for (const last of ['d', '\\', '[']) expect([last, matches(`\n\r\tAé😀\\"${last}`)]).toEqual([last, false]);
    expect(matches('\n\r\tAu00e9😀\\"a')).toBe(false);
  });

  test('a rule that calls itself nests as deep as it likes, and brackets match', async () => {
    const matches = await fits('gbnf', 'root ::= "(" root* ")"');
    expect(matches('('.repeat(2000) + ')'.repeat(2000))).toBe(true);
    expect(matches('('.repeat(2000) + ')'.repeat(1999))).toBe(false);
    expect(matches('(()())')).toBe(true);
    expect(matches('(()()))')).toBe(false);
  });

  test('what can be read in many ways is read in time', async () => {
    const node = { type: 'object', properties: { a: { $ref: '#' } } };
    const other = { type: 'object', properties: { a: { $ref: '#' }, b: { type: 'null' } } };
    const matches = await fits('json-schema', JSON.stringify({ anyOf: [node, other, node, { type: 'null' }] }));
    expect(matches(`${'{"a": '.repeat(200)}null${'}'.repeat(200)}`)).toBe(true);
  });
});

test('tokens that nothing else can be are those of the tokenizer', async () => {
  for (const name of ['qwen3', 'starter']) {
    const { vocabulary, tokenizer, text }: Words = await wordsOf(name);
    const schema = {
      type: 'object',
      properties: { temperature: { const: 1 }, 'the city': { type: 'null' } },
      required: ['temperature', 'the city'],
    };
    const grammar = await vocabulary.grammar('json-schema', JSON.stringify(schema));
    const next = grammar.after(Int32Array.from(tokenizer.encodeText('{"')));
    expect(Buffer.from(next?.forced ?? []).toString()).toBe('temperature":');
    expect(text([...(next?.forcedTokens ?? [])])).toBe('temperature":');
    if (name === 'qwen3') expect([...(next?.forcedTokens ?? [])]).toEqual(tokenizer.encodeText('temperature":', false));
  }
});

test('control tokens are no text', async () => {
  const { vocabulary, tokenizer } = await wordsOf('qwen3');
  const grammar = await vocabulary.grammar('regex', '[\\s\\S]*');
  const free = new Set(allowed(grammar.after(Int32Array.of())?.allowed ?? new Uint32Array()));
  for (const { id } of tokenizer.markers) expect(free.has(id)).toBe(false);
  expect(free.size).toBeGreaterThan(140_000);
});

const kind = (value: string) => `{"properties":{"kind":{"const":"${value}"}},"required":["kind"]}`;
test.each([
  ['gbnf', 'root ::= root "a" | "b"', 'the rule "root" begins with itself'],
  ['gbnf', 'root ::= [a', 'line 1 of the grammar: a class'],
  ['gbnf', 'root ::= x', 'there is no rule "x"'],
  ['gbnf', 'root ::= "\\u12g4"', 'an escape without its digits'],
  ['gbnf', 'root ::= "\\U00110000"', 'a character above U+10FFFF'],
  ['gbnf', 'root ::= "\\q"', 'an escape that is not known here'],
  ['gbnf', 'root ::= [c-a]', 'a range of characters that is none'],
  ['gbnf', 'root ::= "(" root ")"', 'no text matches it'],
  ['regex', '(a', 'character 3'],
  ['regex', '(?=a)b', 'lookahead and lookbehind are not supported'],
  ['regex', '(((a{1000}){1000}){1000})', 'it becomes too large'],
  ['regex', `${'('.repeat(200)}a${')'.repeat(200)}`, 'groups within more than 100 groups'],
  ['json-schema', '{', 'not valid JSON at byte 1'],
  ['json-schema', '{"properties":{"a":{"minimum":"x"}}}', '#/properties/a/minimum is not a number, expected a number'],
  ['json-schema', '{"type":"text"}', '#/type is "text", expected string, number'],
  ['json-schema', '{"not":{}}', '#/not is not supported'],
  ['json-schema', '{"$ref":"#/$defs/x"}', '#/$ref is "#/$defs/x"'],
  ['json-schema', '{"$ref":"#"}', 'no text matches it'],
  ['json-schema', '{"$ref":""}', '#/$ref is ""'],
  ['json-schema', '{"$ref":"x/$defs/a","$defs":{"a":{}}}', '#/$ref is "x/$defs/a"'],
  ['json-schema', '{"$ref":"#x","$defs":{"x":{}}}', '#/$ref is "#x"'],
  ['json-schema', '{"allOf":[{"type":"object"},5]}', 'is not a schema, expected an object or a boolean'],
  ['json-schema', `{"oneOf":[${kind('a')},{"properties":{},"required":["kind"]}]}`, 'not told apart'],
  ['json-schema', `{"oneOf":[${kind('a')},{"properties":{"kind":{"const":"b"}}}]}`, 'not told apart'],
  ['json-schema', '{"oneOf":[{"type":"string"},{"type":"string","minLength":2}]}', 'not told apart'],
  ['json-schema', '{"type":"array","items":false,"minItems":1}', '#/minItems is more than there can be'],
  ['json-schema', '{"type":"object","patternProperties":{"^a":{},"^b":{}}}', '#/patternProperties is beside'],
  ['json-schema', '{"patternProperties":{"^a":{}},"properties":{"x":{}}}', '#/patternProperties is beside'],
  [
    'json-schema',
    '{"patternProperties":{"^a":{}},"additionalProperties":{"type":"null"}}',
    'expected one pattern alone',
  ],
  ['json-schema', '{"patternProperties":[]}', '#/patternProperties is'],
  ['json-schema', '{"type":"string","maxLength":100000}', '#/maxLength is not a count'],
  ['json-schema', 'false', 'no text matches it'],
] as const)('%s %s is refused', async (kind, source, sentence) => {
  const { vocabulary } = await wordsOf('starter');
  await expect(vocabulary.grammar(kind, source)).rejects.toMatchObject({
    code: 'argument',
    message: expect.stringContaining(sentence),
  });
});
