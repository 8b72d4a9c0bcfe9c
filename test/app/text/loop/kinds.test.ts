import { expect, test } from 'vitest';
import { enter, noEntries } from '../../../../app/text/loop/entries.ts';
import { isNumbered } from '../../../../app/text/loop/finding.ts';
import { noLines, notice } from '../../../../app/text/loop/known-lines.ts';
import { levels } from '../../../../app/text/loop/levels.ts';
import { advance, noPeriods } from '../../../../app/text/loop/period.ts';
import type { Features } from '../../../../app/text/loop/score.ts';
import {
  gridOf,
  isEncoded,
  isForm,
  isMarkup,
  isPattern,
  isProse,
  sortOf,
  symbolsIn,
} from '../../../../app/text/loop/text-kind.ts';
import { weigh } from '../../../../app/text/loop/weight.ts';

//  What kind of text repeats, and how many copies of it make a loop.

test.each([
  ['a sentence', 'The lantern stands beside the gate.', true],
  ['nothing', ' \n', false],
  ['a log line', '0x7fffe1 lantern gate', false],
  ['a path', 'see /usr/lib/lantern/gate/here today', false],
  ['one mark in 25 letters', 'lanternsbesidegatetodays=', true],
  ['one mark in 24 letters', 'lanternsbesidegatetoday=', false],
  ['three brackets in 43 letters', '(lanterns) beside; the old gate were hung in two rows', true],
  ['three brackets in 20 letters', '(lanterns) beside; gate', false],
  ['a call', 'open(gate) said nothing at all', true],
  ['two calls', 'open(gate) shut(gate)', false],
  ['six letters of ten', 'abcdef1234', true],
  ['five letters of ten', 'abcde12345', false],
])('prose or not: %s', (_, text, prose) => {
  expect(isProse(text)).toBe(prose);
});

const nines = (count: number) => '9'.repeat(count);
test.each([
  ['words', 'The lantern hangs. ', 'words'],
  ['blank lines', '\n\n\n', 'words'],
  ['blanks', '    ', 'data'],
  ['code', 'a[i] = b[i] + 1;', 'data'],
  ['a long identifier', `see ${'a'.repeat(41)} there`, 'data'],
  ['one less', `see ${'a'.repeat(40)} there`, 'words'],
  ['letters of another script', '哈哈哈哈', 'words'],
  ['exclamation marks', '!!!!!!!!', 'words'],
  ['128 digits', nines(128), 'data'],
  ['129 digits', nines(129), 'words'],
  ['digits in lines of 128', `${nines(128)}\n${nines(5)}`, 'data'],
  ['320 digits with blanks', `${'9 '.repeat(159)}99`, 'data'],
  ['321 digits with blanks', `${'9 '.repeat(160)}9`, 'words'],
  ['128 dots', '.'.repeat(128), 'data'],
  ['129 dots', '.'.repeat(129), 'words'],
  ['320 dashes', '-'.repeat(320), 'data'],
  ['321 dashes', '-'.repeat(321), 'words'],
  ['95 letters', 'a'.repeat(95), 'data'],
  ['96 letters', 'a'.repeat(96), 'words'],
  ['95 signs of another script', '─'.repeat(95), 'data'],
  ['96 signs of another script', '─'.repeat(96), 'words'],
  ['letters with blanks', 'a b a b a b', 'words'],
  ['letters in lines', 'a\nb\na\nb\n', 'data'],
])('words or data: %s', (_, run, sort) => {
  expect(sortOf(run, run)).toBe(sort);
});

test.each([
  ['rows of zeros', '0 0 0\n', '0 0 0\n0 0 0\n', 'rows'],
  ['zeros in one line', '0 0 0', '0 0 0', null],
  ['zeros in brackets', '[0, 0]', '[0, 0], [0, 0]', 'rows'],
  ['two lines', '0 1\n1 0\n', '0 1\n1 0\n0 1\n', 'rows'],
  ['three lines', '0 1\n1 0\n0 0\n', '0 1\n1 0\n0 0\n', 'pattern'],
  ['three lines of one digit', '0 0\n0\n0 0\n', '0 0\n0\n0 0\n', 'blank'],
  ['five digits', '0 1 2\n3 4\n', '0 1 2\n3 4\n', 'rows'],
  ['six digits', '0 1 2\n3 4 5\n', '0 1 2\n3 4 5\n', null],
  ['two pictures in one line', '🌲🌳', '🌲🌳🌲🌳', 'rows'],
  ['letters', 'x 0\n', 'x 0\nx 0\n', null],
])('a grid: %s', (_, once, run, grid) => {
  expect(gridOf(once, run)).toBe(grid);
});

test.each([
  ['A 0 up > b', 1],
  ['the lantern A 0', 0.5],
  ['I saw a lantern 7', 0.2],
  ['', 0],
])('symbols among the words of %j: %d', (text, share) => {
  expect(symbolsIn(text)).toBe(share);
});

test('markup, forms, patterns and encoded text are told apart', () => {
  expect(['| a |', '<td>', 'a | | b', '==12==', 'a b'].map(isMarkup)).toEqual([true, true, true, true, false]);
  expect(['________', '_______', '<td></td>', '<td>lantern</td>', '| |'].map(isForm)).toEqual([
    true,
    false,
    true,
    false,
    true,
  ]);
  expect(['[a-z]', '\\d+', '[ab]'].map(isPattern)).toEqual([true, true, false]);
  expect([`=${'a1'.repeat(60)}=`, 'A1'.repeat(65), 'The lantern hangs.'].map(isEncoded)).toEqual([true, false, false]);
});

/** What a loop of `once` takes in balanced thinking; each id stands for a letter. */
function needed(once: string, copies: number, more: { period?: number; code?: boolean; factor?: number } = {}) {
  const ids = noPeriods();
  const letters = [...once.repeat(copies)];
  for (const letter of letters) advance(ids, letter.codePointAt(0) ?? 0);
  const { period = [...once].length, code = false, factor = 1 } = more;
  const weight = weigh(levels.balanced.thinking, {
    period,
    once,
    run: once.repeat(copies),
    code,
    ids,
    factor: () => factor,
  });
  const { quiet } = weight;
  const told = [Math.round(weight.copies * 100) / 100, weight.tokens];
  return quiet ? [...told, Math.round(quiet.copies * 100) / 100, quiet.tokens] : told;
}

test.each([
  ['prose', 'The lantern hangs there. ', 4, {}, [3, 48]],
  ['prose that was asked for', 'The lantern hangs there. ', 4, { factor: 8 }, [24, 384]],
  ['prose in a fence', 'The lantern hangs there. ', 4, { code: true }, [3.75, 64]],
  ['blanks', '   ', 10, {}, [64, 640]],
  ['rows of zeros', '0 0\n', 6, {}, [64, 400, 64, 320]],
  ['longer rows of zeros', '0 0 0 0 0\n', 6, {}, [15, 400, 15, 320]],
  ['rows of zeros of five tokens', '0 0 \n', 6, {}, [12, 400, 8, 320]],
  ['a chessboard', '0 1\n1 0\n0 1\n', 4, {}, [12, 640]],
  ['a blank grid', '0 0\n0 0\n\n0\n0\n', 4, {}, [26, 640]],
  ['a number without end', '12'.repeat(10), 7, {}, [12, 400, 8, 48]],
  ['encoded lines', `${'aB3d'.repeat(11)}\n`, 3, {}, [12, 256]],
  ['encoded text', 'aB3/', 12, {}, [32, 400, 32, 256]],
  ['a rule', '=-', 20, {}, [32, 256]],
  ['code', 'a[i] = b[j];\n', 4, {}, [12, 400, 3.75, 64]],
  ['short code', 'x=y+1;', 4, {}, [12, 400, 6.8, 64]],
  ['a row of a table', '| lantern | gate | harbour |\n', 4, { code: true }, [11.25, 64]],
  ['an empty row', '| | |\n', 4, { code: true }, [9, 320]],
  ['a named call', 'lantern(gate).harbour(kept);\n', 4, {}, [3.75, 64]],
  ['a call of few letters', 'noon(noon)', 6, {}, [6.29, 64]],
  ['an empty form', 'lantern ________\n', 4, { code: true }, [30, 64]],
  ['a regular expression', '[a-z]{2,8}(\\d+)?=', 4, {}, [12, 400, 7.5, 64]],
  ['moves', 'A>B 0 C>D 1, ', 8, {}, [12, 400, 3.75, 64]],
  ['long moves', 'A>B 0 C>D 1, ', 8, { period: 120 }, [8, 400, 3.75, 64]],
] as const)('copies and tokens of a loop: %s', (_, once, copies, more, expected) => {
  expect(needed(once, copies, more)).toEqual(expected);
});

test('a numbered line is prose that is the same but for the number, alone', () => {
  const [all, less] = [0.98, 0.97];
  const line = { lines: 1, same: all, prose: all, repeated: all };
  const numbered = (changed: Partial<typeof line>) => isNumbered({ ...line, ...changed } as Features);
  expect(numbered({})).toBe(true);
  const others = [{ lines: 1.01 }, { same: less }, { prose: less }, { repeated: less }];
  expect(others.map(numbered)).toEqual([false, false, false, false]);
});

test('rows of a few values are a list, and so are lines that differ in their values', () => {
  const sentence = { telling: true, prose: true, cued: false, fixed: 4, content: new Set<string>(), names: [] };
  const listed = (slots: string[], row: boolean, shapes: readonly number[]) => {
    const known = noLines();
    for (const [at, shape] of shapes.entries())
      notice(known, { ...sentence, start: 9 * at, end: 9 * at + 9, exact: at, shape, slots, row });
    return Math.round(known.listed * 1000) / 1000;
  };
  expect(listed(['1', '2', '3'], true, [1, 2])).toBe(0.068);
  expect(listed(['1', '2', '3', '4'], true, [1, 2])).toBe(0);
  expect(listed(['1'], false, [5, 5, 5])).toBe(0.068);
  expect(listed(['1'], false, [5, 6, 6, 6, 5])).toBe(0.066);
  expect(listed([], false, [5, 5, 5])).toBe(0);
});

test('an entry comes in pieces, as a line of dialogue or below a headline of its own', () => {
  const counted = (pieces: readonly string[]) => {
    const entries = noEntries();
    return pieces.flatMap((piece, at) => enter(entries, piece, at)?.entries ?? []);
  };
  expect(counted(['1', '.', ' Du', 'bai', '\n', '2', '. Du', 'bai\n3.', ' Dubai', '\n'])).toEqual([1, 2]);
  const said = 'Ada: Nobody has seen the lantern yet.\n';
  expect(counted([said, said, said, said])).toEqual([1, 2]);
  const long = (letters: number) =>
    `1. ${'lantern '.repeat(60).slice(0, letters - 4)}x\n2. ${'lantern '.repeat(60).slice(0, letters - 4)}x\n`;
  expect([counted([long(400)]), counted([long(401)])]).toEqual([[1], []]);
  // The text below a headline may be new each time.
  const below = (at: number) => `# ${at}. Dubai\nA tower number ${'x'.repeat(at)} stands there\n`;
  expect(counted([1, 2, 3, 4].map(below))).toEqual([]);
});
