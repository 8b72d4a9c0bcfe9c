import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formats } from '../../support/models/formats.ts';

const parse = (text: string | Uint8Array) => formats.parseJson(typeof text === 'string' ? Buffer.from(text) : text);

test('every value of JSON.stringify comes back', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value);
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

/** The value or the reason why there is none. */
const outcome = (read: () => unknown): { value: unknown } | { refused: string } => {
  try {
    // Through text once more: the sign of an integer -0 is not kept.
    return { value: JSON.parse(JSON.stringify(read())) };
  } catch (error) {
    return { refused: (error as Error).message };
  }
};

test('text with one change is read like JSON.parse reads it, or refused more strictly', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2, unit: 'binary-ascii' }), (text, at, put) => {
      const cut = at % (text.length + 1);
      const changed = text.slice(0, cut) + put + text.slice(cut + 1);
      const theirs = outcome(() => JSON.parse(changed));
      const ours = outcome(() => parse(changed));
      if ('refused' in ours) expect(ours.refused).toMatch(/^\[json\] the text is not valid JSON at byte \d+: /);
      if ('refused' in theirs) expect(ours).toHaveProperty('refused');
      else if ('refused' in ours) expect(ours.refused).toMatch(/appears twice|surrogate|range of a double/);
      else expect(ours).toEqual(theirs);
    }),
    { numRuns: 3000 },
  );
});

describe('accepted', () => {
  const cases: [string, unknown][] = [
    ['"\\u00fc\\ud83d\\ude00\\u0000\\/\\b\\f\\n\\r\\t\\\\\\""', 'ü😀\u0000/\b\f\n\r\t\\"'],
    [
      '"\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{3ffff}\u{10ffff}"',
      '\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{3ffff}\u{10ffff}',
    ],
    ['-0', 0],
    ['9007199254740993', 9007199254740992],
    ['9223372036854775807', 2 ** 63],
    ['18446744073709551615', 2 ** 64],
    ['1e-400', 0],
    ['-1.5E+3', -1500],
    [' \t\r\n[ ] ', []],
    [`${'['.repeat(64)}${']'.repeat(64)}`, JSON.parse(`${'['.repeat(64)}${']'.repeat(64)}`)],
  ];
  for (const [text, value] of cases) test(text.slice(0, 40), () => expect(parse(text)).toEqual(value));
});

describe('refused', () => {
  const cases: [string | Uint8Array, RegExp][] = [
    ['', /at byte 0: the text ends early/],
    ['{"a":1,"a":2}', /the key "a" appears twice/],
    ['{"__proto__":1,"\\u005f_proto__":2}', /appears twice/],
    ['[1,]', /where a value is expected/],
    ['{"a":1,}', /a key must be a string/],
    ["{'a':1}", /a key must be a string/],
    ['{1:2}', /a key must be a string/],
    ['01', /leading zero/],
    ['1.', /without digits after the point/],
    ['1e', /without digits in its exponent/],
    ['+1', /where a value is expected/],
    ['.5', /where a value is expected/],
    ['NaN', /numbers must be finite/],
    ['-Infinity', /numbers must be finite/],
    ['1e400', /beyond the range of a double/],
    ['tru', /an unknown word/],
    ['nul', /an unknown word/],
    ['"\\ud800"', /half of a surrogate pair/],
    ['"\\udc00\\ud800"', /half of a surrogate pair/],
    ['"\\ud800\\u0041"', /half of a surrogate pair/],
    ['"\\u12g4"', /four hexadecimal digits/],
    ['"\\x41"', /an unknown escape/],
    ['"a\nb"', /a control character/],
    ['"abc', /ends early/],
    ['"\\', /ends early/],
    ['[1 2]', /"2" where "," is expected/],
    ['[] []', /after the end/],
    ['/* c */ 1', /where a value is expected/],
    [`${'['.repeat(66)}${']'.repeat(66)}`, /deeper than 64 levels/],
    ['['.repeat(1_000_000), /deeper than 64 levels/],
    ['{"a":'.repeat(1_000_000), /deeper than 64 levels/],
    ['[{"a":'.repeat(40), /deeper than 64 levels/],
    [Uint8Array.of(0xef, 0xbb, 0xbf, 0x31), /where a value is expected/],
    [Uint8Array.of(0x22, 0xff, 0x22), /at byte 1: a byte that is not UTF-8/],
    [Uint8Array.of(0x22, 0xc0, 0x80, 0x22), /not UTF-8/],
    [Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), /not UTF-8/],
    [Uint8Array.of(0x22, 0xf4, 0x90, 0x80, 0x80, 0x22), /not UTF-8/],
    [Uint8Array.of(0x22, 0xe2, 0x82), /not UTF-8/],
    [Uint8Array.of(0x22, 0xf0, 0x8f, 0xbf, 0xbf, 0x22), /not UTF-8/],
  ];
  for (const [text, message] of cases) {
    const name = typeof text === 'string' ? JSON.stringify(text.slice(0, 40)) : `bytes ${[...text].join(' ')}`;
    test(name, () => expect(() => parse(text)).toThrow(message));
  }
});
