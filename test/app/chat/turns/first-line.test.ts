import { expect, test } from 'vitest';
import { firstLine } from '../../../../app/chat/first-line.ts';

test('the first line names a chat, in sixty characters as a person counts them', () => {
  expect(firstLine('  \n Hello there \n and more')).toBe('Hello there');
  expect(firstLine('')).toBe('');
  expect(firstLine('x'.repeat(60))).toBe('x'.repeat(60));
  expect(firstLine('x'.repeat(61))).toBe(`${'x'.repeat(57)}…`);
  expect(firstLine(`${'x'.repeat(55)}  ${'y'.repeat(9)}`)).toBe(`${'x'.repeat(55)}…`);
  const family = '👨‍👩‍👧';
  expect(firstLine(family.repeat(60))).toBe(family.repeat(60));
  expect(firstLine(family.repeat(61))).toBe(`${family.repeat(57)}…`);
});
