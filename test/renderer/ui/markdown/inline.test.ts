import { describe, expect, test } from 'vitest';
import {
  codeOrMath,
  DISPLAY_MATH,
  INLINE_MATH,
  mathToCode,
  openable,
} from '../../../../renderer/ui/markdown/inline.ts';
import { LONGEST_LEAF, pieces, tooHeavy } from '../../../../renderer/ui/markdown/limits.ts';

const inline = (tex: string) => `\`${INLINE_MATH}${tex}\``;
const display = (tex: string) => `\`${DISPLAY_MATH}${tex}\``;

describe('formulas in text', () => {
  test.each([
    ['\\(k\\) and $x^2$.', `${inline('k')} and ${inline('x^2')}.`],
    ['so \\[a\\] or $$b$$ here', `so ${display('a')} or ${display('b')} here`],
    ['between $5 and $10 a day', 'between \\$5 and \\$10 a day'],
    ['costs $5', 'costs \\$5'],
    ['$ not this $', '\\$ not this \\$'],
    ['`$x$` stays code', '`$x$` stays code'],
    ['``a ` $x$`` too', '``a ` $x$`` too'],
    ['a \\$ is a dollar', 'a \\$ is a dollar'],
    ['\\( never closed', '\\( never closed'],
    ['$a$b`', `${inline('a')}b\``],
  ])('%s', (source, wanted) => {
    expect(mathToCode(source)).toBe(wanted);
  });

  test('the private signs cannot be smuggled in', () => {
    expect(mathToCode(`\`${INLINE_MATH}\\href{javascript:1}{x}\``)).toBe('`\uFFFD\\href{javascript:1}{x}`');
  });

  test('a code span says what it is', () => {
    expect(codeOrMath(`${DISPLAY_MATH}x`)).toEqual({ kind: 'math', tex: 'x', display: true });
    expect(codeOrMath('x')).toEqual({ kind: 'code', text: 'x' });
  });
});

describe('addresses', () => {
  test.each(['https://a.test/', 'http://a.test/', 'mailto:a@b.test'])('%s may be asked for', (address) => {
    expect(openable(address)).toBe(address);
  });
  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    '//evil.test',
    '/settings',
    '#x',
    '',
    undefined,
  ])('%s stays text', (address) => expect(openable(address)).toBeNull());
});

describe('too much at once', () => {
  test('a line of a megabyte is cut into pieces that make it whole again', () => {
    const text = `${'x'.repeat(999_999)}é`;
    expect(pieces(text).join('')).toBe(text);
  });
  test('no piece ends inside a character', () => {
    const text = '😀'.repeat(5001);
    expect(pieces(`a${text}`).every((piece) => piece.isWellFormed())).toBe(true);
  });
  test('length and number of marks are both limited', () => {
    expect(tooHeavy('x'.repeat(LONGEST_LEAF + 1))).toBe(true);
    expect(tooHeavy('['.repeat(2000))).toBe(true);
    expect(tooHeavy('word '.repeat(400))).toBe(false);
  });
});
