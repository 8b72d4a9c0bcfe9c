import { describe, expect, test } from 'vitest';
import {
  createFormats,
  localeFor,
  MISSING,
  memoryUnitOf,
  periodOf,
  rangeOf,
  split,
} from '../../../renderer/ui/format.ts';

const en = createFormats('en');
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('figures as the design language writes them', () => {
  test.each([
    [6214, '6,214'],
    [9999, '9,999'],
    [11_212, '11.2k'],
    [262_144, '262k'],
  ])('%i tokens', (count, shown) => expect(en.tokens(count)).toBe(shown));

  test.each([
    [32_768, '32k'],
    [49_152, '48k'],
    [10_000, '10k'],
  ])('context of %i', (count, shown) => expect(en.contextSize(count)).toBe(shown));

  test.each([
    [46.13, '46.1 tok/s'],
    [2310, '2,310 tok/s'],
    [405.4, '405 tok/s'],
    [null, '–'],
  ])('speed %s', (speed, shown) => expect(plain(en.speed(speed))).toBe(shown));

  test.each([
    [31, '31 ms'],
    [99.6, '0.10 s'],
    [420, '0.42 s'],
    [4200, '4.2 s'],
    [4000, '4 s'],
    [9960, '10 s'],
    [20_000, '20 s'],
    [36_400, '36 s'],
    [59_600, '1 min'],
    [142_000, '2 min 22 s'],
    [3_900_000, '1 h 5 min'],
    [Number.NaN, '–'],
  ])('%s ms', (ms, shown) => expect(plain(en.duration(ms))).toBe(shown));

  test.each([
    [418_000_000, '418 MB'],
    [2_700_000_000, '2.7 GB'],
    [2_000_000_000, '2 GB'],
    [999, '999 B'],
  ])('file of %i bytes', (bytes, shown) => expect(plain(en.fileSize(bytes))).toBe(shown));

  test('memory is binary and small things are not called nothing', () => {
    expect(plain(en.memory(13.5 * 2 ** 30))).toBe('13.5 GB');
    expect(plain(en.memory(17.9 * 2 ** 20))).toBe('18 MB');
    expect(plain(en.memory(8 * 2 ** 30))).toBe('8 GB');
    expect(plain(en.memory(0))).toBe('0 MB');
    expect([en.memoryFigure(5.9 * 2 ** 30), plain(en.memoryFigure(18 * 2 ** 20))]).toEqual(['5.9', '18 MB']);
    expect([en.billions(4e9), en.billions(1.72e9)]).toEqual(['4', '1.72']);
  });

  test('a change has its sign', () => {
    expect(en.change(-0.034)).toBe('−3.4%');
    expect(en.change(0.1)).toBe('+10.0%');
    expect(en.change(0.0002)).toBe('0%');
    expect(en.change(-0.0002)).toBe('0%');
  });

  test('another language brings its own signs', () => {
    expect(createFormats('de').tokens(6214)).toBe('6.214');
  });
});

test('yesterday is a day of the calendar', () => {
  const now = new Date(2026, 10, 21, 0, 30).getTime();
  expect(periodOf(now - 20 * 60_000, now)).toBe('today');
  expect(periodOf(now - 40 * 60_000, now)).toBe('yesterday');
  expect(periodOf(now - 25 * 3_600_000, now)).toBe('earlier');
});

test('a range says its unit once where both ends have the same, and nothing without a spread', () => {
  const t = (_: string, { low, high }: { low: string; high: string }) => `${low} to ${high}`;
  expect(rangeOf({ low: 43, high: 48.2 }, en.speed, t)).toBe('43.0 to 48.2\u00a0tok/s');
  expect(rangeOf({ low: 60, high: 420 }, en.duration, t)).toBe('60\u00a0ms to 0.42\u00a0s');
  expect(rangeOf(null, en.speed, t)).toBe('');
});

test('a figure is told from what it is counted in', () => {
  expect(split(en.speed(46.1))).toEqual({ figure: '46.1', unit: 'tok/s' });
  expect(split(MISSING)).toEqual({ figure: MISSING, unit: '' });
});

test('when something was: today and yesterday in words, then day and month', () => {
  const now = new Date(2026, 10, 22, 9, 30).getTime();
  expect(en.when(new Date(2026, 10, 22, 9, 12).getTime(), now)).toMatch(/^today 9:12/);
  expect(en.when(new Date(2026, 10, 21, 23, 59).getTime(), now)).toMatch(/^yesterday 11:59|^yesterday 23:59/);
  expect(en.when(new Date(2026, 10, 14).getTime(), now)).toBe('Nov 14');
});

test('dates are written as where the reader lives, if the language is spoken there', () => {
  expect(localeFor('en', ['de-DE', 'en-GB', 'en-US'])).toBe('en-GB');
  expect(localeFor('en', ['de-DE'])).toBe('en');
  const now = new Date(2026, 10, 22, 9, 30).getTime();
  const british = createFormats(localeFor('en', ['en-GB']));
  expect(british.when(new Date(2026, 10, 22, 9, 12).getTime(), now)).toBe('today 09:12');
  expect(british.when(new Date(2026, 10, 14).getTime(), now)).toBe('14 Nov');
});

test('an axis says its unit once, one of memory at every tick, in what its largest value is counted in', () => {
  expect(plain(en.speedTick(50))).toBe('50 tok/s');
  expect(en.ticks([0, 5, 10], 's').map(plain)).toEqual(['0', '5', '10 s']);
  expect(en.memoryTicks([0, 0.25, 0.5], memoryUnitOf(0.5 * 2 ** 30).name).map(plain)).toEqual([
    '0 GB',
    '0.25 GB',
    '0.5 GB',
  ]);
  expect(en.memoryTicks([0, 20], memoryUnitOf(30 * 2 ** 20).name).map(plain)).toEqual(['0 MB', '20 MB']);
});
