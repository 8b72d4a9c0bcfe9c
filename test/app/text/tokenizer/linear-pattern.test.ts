import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LinearPattern } from '../../../../app/text/tokenizer/linear-pattern.ts';
import { fuzzed } from '../../../support/soak.ts';

const own = (source: string, text: string) =>
  Array.from(new LinearPattern(source).matches(text), (m) => [m.index, m[0]]);
const native = (source: string, text: string) =>
  Array.from(text.matchAll(new RegExp(source, 'gu')), (m) => [m.index, m[0]]);

function isKnown(source: string): boolean {
  try {
    return new LinearPattern(source) !== null;
  } catch {
    return false;
  }
}

const O200K = String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'[sS]|'[tT]|'[rR][eE])?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

const PATTERNS = [
  O200K,
  String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
  String.raw`\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))`,
  String.raw`(?<=\p{L})\p{N}+|(?<!\p{L})[ab]+?b|(?<=a(?:b|bc))c`,
  '(?:a|ab)(?:c|bcd)(?:d*)',
  '(?:a+)+$'.replace('$', String.raw`(?![\s\S])`),
  '(?:)|a',
  '(?:a|b|ab){2,3}?c{0,2}',
  'a{2}|b{1,}|c{0}d',
  '(?=(a+))a*b|a',
  '(?!a{3})a+',
  '[^a-c]+|[\\]\\-a]+',
  '(?<x>a)(b)?',
  '(?<=^)'.replace('^', String.raw`(?<![\s\S])`) + 'a|.'.replace('.', '[^\\n]'),
  '\\u{1F600}+|\\u0061|\\x62|[\\u{1F600}-\\u{1F64F}]',
  '(?:(?:a?){3}){3}a{3}',
  '-+|[\\-]',
];

describe('finds what the engine of JavaScript finds', () => {
  const letters = fc.string({
    unit: fc.constantFrom('a', 'b', 'c', 'd', 'A', '1', ' ', '\n', "'", 's', '-', ']', 'é', '漢', '😀', '\u0301'),
    maxLength: 14,
  });
  test.each(PATTERNS)('%s', (source) => {
    fc.assert(
      fc.property(fc.oneof(letters, fc.string({ unit: 'binary', maxLength: 20 })), (text) => {
        expect(own(source, text.toWellFormed())).toEqual(native(source, text.toWellFormed()));
      }),
      fuzzed(300),
    );
  });

  test('in whole texts', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../../ARCHITECTURE.md'), 'utf8');
    for (const source of PATTERNS.slice(0, 3)) expect(own(source, text)).toEqual(native(source, text));
  });

  test('random patterns', () => {
    const atoms = fc.constantFrom('a', 'b', '[ab]', '[^a]', 'c');
    const pattern = fc.letrec<{ one: string }>((tie) => ({
      one: fc.oneof(
        { depthSize: 'small' },
        atoms,
        fc.tuple(tie('one'), tie('one')).map(([x, y]) => x + y),
        fc.tuple(tie('one'), tie('one')).map(([x, y]) => `(?:${x}|${y})`),
        fc
          .tuple(tie('one'), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,2}?'))
          .map(([x, q]) => `(?:${x})${q}`),
        fc.tuple(fc.constantFrom('(?=', '(?!', '(?<=', '(?<!'), tie('one')).map(([look, x]) => `${look}${x})`),
      ),
    })).one;
    fc.assert(
      fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 }), (source, text) => {
        fc.pre(isKnown(source));
        expect(own(source, text)).toEqual(native(source, text));
      }),
      fuzzed(3000),
    );
  });

  test('by the methods of String that the library uses', () => {
    const pattern = new LinearPattern('a+') as unknown as RegExp;
    expect('xaayaz'.match(pattern)).toEqual(['aa', 'a']);
    expect('xyz'.match(pattern)).toBeNull();
    expect([...'xaay'.matchAll(pattern)].map((match) => [match.index, match[0]])).toEqual([[1, 'aa']]);
    expect('xaayaz'.split(pattern)).toEqual(['x', 'y', 'z']);
  });
});

test.each([
  ['(?:a+)+b', 'a'],
  ['(?:a|a)*b', 'a'],
  ['a*a*a*a*a*a*b', 'a'],
  ['(?:(?:a?){20}){20}b', 'a'],
  ['(?=(?:a+)+b)a', 'a'],
  ['(?=[\\s\\S]*x)a|a', 'a'],
  ['(?<=(?:a+)+)b|(?<!(?:ab?)*)a', 'a'],
  ['(?:\\s+)+x|\\s', ' '],
  ['(?:a+)+b|a', 'a'],
  ['(?:a|aa)+b|[\\s\\S]', 'a'],
])('%s takes time in proportion', (source, letter) => {
  const timed = (length: number) => {
    const start = performance.now();
    own(source, letter.repeat(length));
    return performance.now() - start;
  };
  timed(500);
  const small = timed(5_000);
  expect(timed(40_000), `${small} ms for an eighth`).toBeLessThan(Math.max(small * 24, 2000));
});

test.each([
  ['(a)\\1', 'unknown sign'],
  ['(', 'without an end'],
  [')', 'end without a group'],
  ['a{3,2}', 'more to less'],
  ['(?:a{1000}){1000}', 'more than 2000 steps'],
  [`${'('.repeat(100)}${')'.repeat(100)}`, 'groups in each other'],
  ['*', 'unknown sign'],
  ['(?:a*)*b', 'what may be nothing'],
  ['(?:a|b?)+', 'what may be nothing'],
  ['(?:(?=a))*', 'what may be nothing'],
])('%s is refused', (source, sentence) => {
  expect(() => new LinearPattern(source)).toThrow(sentence);
});
