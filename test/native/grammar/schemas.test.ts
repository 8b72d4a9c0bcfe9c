// Schemas made at random: whatever is written by one is valid to a validator of somebody else.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { randomFrom, wordsOf, writeAtRandom } from '../../support/models/grammar.ts';

type Random = () => number;
const below = (random: Random, most: number) => Math.floor(random() * most);
const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;
const NAMES = ['name', 'a', 'ab', 'größe', 'with "quotes"', 'line\nbreak', 'x/y~z', '', '名前', 'id'];
const some = (random: Random, share: number) => random() < share;

function scalar(random: Random): object {
  const low = below(random, 400) - 200;
  return oneOf<() => object>(random, [
    () => ({ type: 'string' }),
    () => ({ type: 'string', minLength: below(random, 3), maxLength: 3 + below(random, 8) }),
    () => ({
      type: 'string',
      pattern: oneOf(random, ['^[a-z]{2,5}$', 'x\\d', '^"\\\\$', '^(?:ab|cd)+', '[^"\\x00-\\x1f]$']),
    }),
    () => ({
      type: 'string',
      format: oneOf(random, ['date', 'time', 'date-time', 'uuid', 'ipv4', 'email', 'hostname', 'uri']),
    }),
    () => ({ type: 'integer' }),
    () => ({ type: 'number' }),
    () => ({ type: 'integer', minimum: low, maximum: low + below(random, 300) }),
    () => ({ type: 'integer', exclusiveMinimum: low }),
    () => ({ type: 'number', minimum: low / 8, exclusiveMaximum: low / 8 + 1 + below(random, 30) / 10 }),
    () => ({ type: 'number', exclusiveMinimum: low / 100, maximum: low / 100 + 1 }),
    () => ({ type: ['boolean', 'null'] }),
    () => ({ enum: ['one', 2, null, { three: [3.5, 'x'] }, 'vier\t"4"'].slice(below(random, 4)) }),
    () => ({ const: oneOf(random, ['\\', 0.1, true, ['a', 1], { b: {} }]) }),
  ])();
}

function object(random: Random, depth: number): object {
  const names = NAMES.filter(() => some(random, 0.35));
  const properties = Object.fromEntries(names.map((name) => [name, schema(random, depth - 1)]));
  const required = [...names.filter(() => some(random, 0.6)), ...(some(random, 0.1) ? ['elsewhere'] : [])];
  return {
    type: 'object',
    properties,
    required,
    ...(some(random, 0.3) && !required.includes('elsewhere') && { additionalProperties: false }),
    ...(some(random, 0.3) && !required.includes('elsewhere') && { additionalProperties: schema(random, 0) }),
  };
}

function array(random: Random, depth: number): object {
  const minItems = below(random, 3);
  return {
    type: 'array',
    items: schema(random, depth - 1),
    ...(some(random, 0.4) && { prefixItems: [schema(random, 0), schema(random, 0)] }),
    ...(some(random, 0.6) && { minItems }),
    ...(some(random, 0.6) && { maxItems: minItems + 1 + below(random, 3) }),
  };
}

function schema(random: Random, depth: number): object {
  if (depth <= 0) return scalar(random);
  return oneOf<() => object>(random, [
    () => scalar(random),
    () => object(random, depth),
    () => object(random, depth),
    () => array(random, depth),
    () => ({ anyOf: [schema(random, depth - 1), schema(random, depth - 1)] }),
    () => ({
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, x: scalar(random) }, required: ['kind', 'x'] },
        { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
        { type: 'null' },
      ],
    }),
    () => ({
      allOf: [object(random, depth), { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }],
    }),
    () => ({
      type: 'object',
      patternProperties: { '^[a-c]{1,3}$': schema(random, depth - 1) },
      additionalProperties: false,
    }),
    () => ({ type: 'object', additionalProperties: schema(random, depth - 1), minProperties: below(random, 2) }),
  ])();
}

/** Members that the text has, and those that are left when each name counts once. */
function membersOf(text: string): [written: number, named: number] {
  const written = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  const count = (value: unknown): number => {
    if (value === null || typeof value !== 'object') return 0;
    const own = Array.isArray(value) ? 0 : Object.keys(value).length;
    return Object.values(value).reduce((sum: number, each) => sum + count(each), own);
  };
  return [written, count(JSON.parse(text))];
}

test('500 schemas: every text that is finished is valid, has no name twice, and may be written plainly', async () => {
  const words = await wordsOf('starter');
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  formats.default(ajv);
  let finished = 0;
  for (let seed = 1; finished < 500; seed++) {
    expect(seed, 'most schemas can be finished').toBeLessThan(700);
    const random = randomFrom(seed * 7919);
    const whole =
      seed % 10 === 0
        ? {
            type: 'object',
            properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] }, value: schema(random, 1) },
            required: ['value'],
          }
        : schema(random, 3);
    const grammar = await words.vocabulary.grammar('json-schema', JSON.stringify(whole)).catch((error: Error) => {
      // Two of its parts contradict each other.
      expect(error.message).toMatch(/no text matches it|which additionalProperties forbids/);
      return null;
    });
    if (!grammar) continue;
    const ids = writeAtRandom(grammar, words, random, { most: 200 });
    if (!ids) continue;
    finished++;
    const text = words.text(ids);
    const valid = ajv.validate(whole, JSON.parse(text));
    const why = `${seed}: ${JSON.stringify(whole)}\n${text}`;
    expect(valid, `${why}\n${ajv.errorsText()}`).toBe(true);
    const [written, named] = membersOf(text);
    expect(written, why).toBe(named);
    const plain = words.tokenizer.encodeText(JSON.stringify(JSON.parse(text)));
    expect(grammar.after(Int32Array.from(plain))?.ends, why).toBe(true);
  }
}, 120_000);

test('a reference names any definition: with / and ~ as JSON Pointer writes them, and with % as addresses do', async () => {
  const words = await wordsOf('starter');
  const $defs = { 'a/b': { const: 1 }, 'c~d': { const: 2 }, 'e f': { const: 3 }, 'größe%': { const: 4 } };
  const named = ['a~1b', 'c~0d', 'e%20f', encodeURIComponent('größe%')];
  const list = { type: 'array', prefixItems: named.map((name) => ({ $ref: `#/$defs/${name}` })), minItems: 4 };
  const schema = JSON.stringify({ $defs, ...list, items: false });
  const ids = writeAtRandom(await words.vocabulary.grammar('json-schema', schema), words, randomFrom(7), { most: 200 });
  expect(JSON.parse(words.text(ids ?? []))).toEqual([1, 2, 3, 4]);
});

test('where allOf gives a limit twice, the narrower one holds', async () => {
  const words = await wordsOf('starter');
  const limits = { allOf: [{ type: 'integer', minimum: 3, maximum: 6 }, { minimum: 5 }, { minimum: 4, maximum: 9 }] };
  const grammar = await words.vocabulary.grammar('json-schema', JSON.stringify(limits));
  const written = Array.from({ length: 12 }, (_, seed) => {
    const ids = writeAtRandom(grammar, words, randomFrom((seed + 1) * 0x2545f491), { most: 20 });
    return words.text(ids ?? []).trim();
  });
  expect([...new Set(written)].sort()).toEqual(['5', '6']);
});
