// Names and texts of others, as they read.
import { expect, test } from 'vitest';
import {
  asReadableName,
  asReadableText,
  isReadableName,
  withMarksVisible,
} from '../../../app/protocol/readable-name.ts';

test.each([
  ['invoice.pdf', true, 'invoice.pdf', 'invoice.pdf'],
  [' plan ', true, 'plan', ' plan '],
  ['invoice\u202efdp.exe', false, 'invoicefdp.exe', 'invoice\\u{202e}fdp.exe'],
  ['a\u200bb', false, 'ab', 'a\\u{200b}b'],
  ['a\u0000b\u2028', false, 'ab', 'a\\u{0}b\\u{2028}'],
  // Emoji and Persian words are written with joiners.
  ['👩\u200d🚀', false, '👩\u200d🚀', '👩\u200d🚀'],
  ['a\n\tb', false, 'ab', 'a\n\tb'],
  ['  ', false, '', '  '],
])('%j', (name, readable, shown, told) => {
  expect([isReadableName(name), asReadableName(name), withMarksVisible(name)]).toEqual([readable, shown, told]);
});

test('a text keeps its lines and tabs, however its lines end', () => {
  expect(asReadableText('one\r\ntwo\rthree\n\tfo\u202eur\u200d')).toBe('one\ntwo\nthree\n\tfour\u200d');
});
