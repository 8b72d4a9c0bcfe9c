import { expect, test } from 'vitest';
import { degreeOf, enter, noEntries } from '../../../../app/text/loop/entries.ts';
import { noLines, notice } from '../../../../app/text/loop/known-lines.ts';
import { link, noChains } from '../../../../app/text/loop/near-duplicates.ts';
import { collapsed, entropy, fading, nothingWritten, observe } from '../../../../app/text/loop/novelty.ts';
import { advance, noPeriods } from '../../../../app/text/loop/period.ts';
import { requestedLength } from '../../../../app/text/loop/requested-length.ts';
import { measure, noReturns, turnBack } from '../../../../app/text/loop/returns.ts';
import { cut, noText } from '../../../../app/text/loop/sentences.ts';
import { repeat } from './corpus/random.ts';

//  What each signal of the loop guard measures, on texts of a few words: one word is one token.

const words = (text: string) => text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
const rounded = (value: number) => Math.round(value * 1000) / 1000;

function sentencesOf(...lines: readonly string[]) {
  const cutter = noText();
  let at = 0;
  return lines.flatMap((line) => words(line).flatMap((word) => cut(cutter, word, at++)));
}

function roundsOf(lines: readonly string[]) {
  const chains = noChains();
  return sentencesOf(...lines).flatMap((sentence) => link(chains, sentence) ?? []);
}

test.each([
  ['List 50 animals', 50],
  ['Name 5 large towns', 5],
  ['Name 4 large towns', null],
  ['count from 1 to 200', 200],
  ['numbers 3-40, please', 40],
  ['10 towns, then 20 rivers', 20],
  ['What happened in 1969?', null],
  ['', null],
])('%j asks for %j items', (question, most) => {
  expect(requestedLength(question)).toBe(most);
});

test('a sentence is known by its words; numbers, names and single letters are what may count', () => {
  const [first, second, fence, code, row] = sentencesOf(
    '12. Wait, the third lantern of Cem costs forty crowns. ',
    'A million rings hang there!\n',
    '```\nif x:\n',
    '| 3 | 4 | true |\n',
  );
  expect(first).toMatchObject({ start: 0, end: 10, telling: true, prose: true, cued: true, row: false, fixed: 6 });
  expect(first?.slots).toEqual(['3', 'cem', '40']);
  expect(first?.names).toEqual(['cem']);
  expect([...(first?.content ?? [])]).toEqual(['lantern', 'costs', 'crowns']);
  expect(second).toMatchObject({ start: 10, end: 15, slots: ['1000000'], cued: false, telling: false, fixed: 4 });
  expect(fence).toMatchObject({ start: 15, end: 17, row: true });
  expect(code).toMatchObject({ start: 17, end: 18, prose: false, row: false, fixed: 2 });
  expect(row).toMatchObject({ row: true, slots: ['3', '4', 'true'], fixed: 0 });
});

test('a name seen within a sentence is one at the start of the next too', () => {
  const slots = (text: string) => sentencesOf(text).map((sentence) => sentence.slots);
  expect(slots('Dana sings loud here. Then Dana sings loud. Dana sings loud here.\n')).toEqual([
    [],
    ['dana'],
    ['dana'],
  ]);
});

test('counters, doubts and the same line again: what three attempts consist of', () => {
  const rounds = roundsOf(
    repeat(
      5,
      (n) =>
        `Attempt ${n + 7}: the chair beside the door stays empty.\nWait, Dana swaps with Cem again (${(n + 7) ** 2 % 17}).\n`,
    ),
  );
  expect(
    rounds.map(({ copies, period, first, latest, identical }) => [copies, period, first, latest, identical]),
  ).toEqual([
    [3, 16, 0, 16, 1],
    [3, 16, 10, 26, 2],
    [4, 16, 0, 32, 1],
    [4, 16, 10, 42, 1],
    [5, 16, 0, 48, 1],
    [5, 16, 10, 58, 1],
  ]);
  const [, , , second, , last] = rounds.map(({ features }) => features);
  expect(second).toMatchObject({
    copies: 2,
    period: 4,
    same: 0,
    counter: 1,
    numbers: 0.625,
    stale: 0.5,
    cued: 1,
    fixed: 4,
  });
  expect(last).toMatchObject({
    same: 0,
    counter: 0.625,
    values: 0.375,
    numbers: 1,
    stale: 0.4,
    said: 12,
    density: 0.25,
  });
});

test('a line that stays, one with other values and rows of a table: shares of the tokens of the latest copy', () => {
  const towns = ['Lima', 'Oslo', 'Quito', 'Turin', 'Cairo', 'Lima'];
  const rounds = roundsOf(
    repeat(
      6,
      (n) =>
        `The lantern stands beside the harbour gate.\nIn ${towns[n]} the ledger costs ${[3, 8, 2, 9, 3, 3][n]} crowns.\n| ${n} | ${n + 5} | 3 |\n`,
    ),
  );
  expect(rounds.at(-2)).toMatchObject({ copies: 6, period: 21, first: 0, latest: 84, identical: 6 });
  expect(rounds.at(-1)).toMatchObject({ copies: 6, period: 21, first: 8, latest: 92, identical: 1 });
  const measured = Object.entries(rounds.at(-1)?.features ?? {}).map(([name, value]) => [name, rounded(value)]);
  // Of 21 tokens, 8 are the lantern's, 7 the ledger's (Lima and 3 were there before) and 6 the row's.
  expect(Object.fromEntries(measured)).toEqual({
    copies: rounded(Math.log2(6)),
    period: rounded(Math.log2(21)),
    length: rounded(Math.log2(5 * 21)),
    lines: 2,
    same: 0.381,
    counter: 0,
    back: 0.333,
    values: 0,
    words: 0,
    first: 0.286,
    similar: 0.714,
    fresh: 0,
    numbers: 0.286,
    rows: 0.286,
    prose: 0.714,
    cued: 0,
    aligned: 0.714,
    deep: 0.714,
    fixed: 5,
    said: 12,
    density: 0.294,
    stale: 0.167,
    repeated: 0.736,
    stretched: 1,
    growing: 1,
  });
});

test('a line comes back ever later: how far the copies are apart, and that it grows', () => {
  const filler = [
    'A red kite sails away over Mora. ',
    'Some old crates arrive late. ',
    'Nobody opened seven green jars. ',
  ];
  const line = 'Perhaps the wooden chair stands beside the window. ';
  const [, last] = roundsOf([line, line, filler[0] ?? '', line, filler[1] ?? '', filler[2] ?? '', line]);
  expect(last).toMatchObject({ copies: 4, period: 18, identical: 4 });
  expect(rounded(last?.features.stretched ?? 0)).toBe(0.759);
  expect(rounded(last?.features.growing ?? 0)).toBe(1.2);
});

const entriesOf = (...lines: readonly string[]) => {
  const entries = noEntries();
  return lines.map((line, at) => enter(entries, `${line}\n`, 10 * at));
};

test('entries of a list that were there before are counted; a new one takes two away, a headline begins anew', () => {
  const counted = (...lines: readonly string[]) => entriesOf(...lines).map((worn) => worn?.entries ?? 0);
  const list = ['1. Dubai', '2. Oslo', '3. Dubai', '4. Oslo', '5. Dubai'];
  expect(counted(...list)).toEqual([0, 0, 1, 2, 3]);
  expect(counted(...list, '6. Lima', '7. Oslo')).toEqual([0, 0, 1, 2, 3, 0, 2]);
  expect(counted(...list, 'Nothing else comes to mind', '6. Oslo')).toEqual([0, 0, 1, 2, 3, 0, 2]);
  expect(counted(...list, '# Rivers', '6. Oslo', '7. Oslo')).toEqual([0, 0, 1, 2, 3, 0, 0, 1]);
  expect(counted(...list, 'Rivers:', '1. Oslo')).toEqual([0, 0, 1, 2, 3, 0, 0]);
  expect(counted(...list, '---', '1. Oslo')).toEqual([0, 0, 1, 2, 3, 0, 0]);
  expect(counted(...list, '9. Oslo')).toEqual([0, 0, 1, 2, 3, 1]);
  expect(counted('```', ...list, '```')).toEqual([0, 0, 0, 0, 0, 0, 0]);
  // Without numbers an entry must have been there twice.
  expect(counted('- Dubai', '- Dubai', '- Dubai', '- Oslo', '- Dubai')).toEqual([0, 0, 1, 0, 1]);
  expect(counted('1. 5', '2. 5', '3. 5')).toEqual([0, 0, 0]);
});

test('what is shown of a worn list are its last five entries', () => {
  const lines = repeat(8, (at) => `${at + 1}. **Dubai** tower`);
  const worn = entriesOf(...lines).at(-1);
  expect(worn).toEqual({
    entries: 7,
    first: 10,
    period: 1,
    latest: 30,
    text: '**Dubai** tower',
    said: 'dubai tower',
    words: 2,
    counts: true,
    number: 8,
  });
});

const worn = {
  entries: 0,
  first: 0,
  period: 1,
  latest: 0,
  text: 'Dubai',
  said: 'dubai',
  words: 1,
  counts: true,
  number: 9,
};
test.each([
  ['one word', {}, 8, 24],
  ['two words', { text: 'Port Said', said: 'port said', words: 2 }, 4, 10],
  ['three words', { text: 'the old port', said: 'the old port', words: 3 }, 3, 6],
  ['a digit among words', { text: 'fill jar 3 now', said: 'fill jar 3 now', words: 4 }, 6, 18],
  ['moves', { text: 'A 0', said: 'a 0', words: 2 }, 16, 64],
  ['bullets', { counts: false }, 32, 96],
])('entries of %s: so many for a line, so many for a card', (_, what, quiet, card) => {
  const degrees = [quiet - 1, quiet, card - 1, card].map((entries) => degreeOf({ ...worn, ...what, entries }, 1, ''));
  expect(degrees).toEqual([null, 'quiet', 'quiet', 'card']);
});

test('four times as many entries of what was asked for, half as many beyond the number that was', () => {
  const least = (question: string, number: number, factor = 1) =>
    repeat(100, (entries) => entries).find((entries) => degreeOf({ ...worn, entries, number }, factor, question));
  expect(least('Where is Dubai?', 9)).toBe(32);
  expect(least('Name 20 towns', 20)).toBe(8);
  expect(least('Name 20 towns', 21)).toBe(4);
  expect(least('', 9, 2)).toBe(16);
});

test.each([
  [
    'Wait, let me reconsider. Whether they meet depends on it, and the question still does not say which?',
    { again: 1, doubts: 4, open: 1, fresh: 1, numbers: 0, formal: 0, length: 4.17, negations: 1, self: 2 },
  ],
  [
    'The train leaves at 12 and arrives at 15, so 3 hours are needed. It is full.',
    { again: 0, doubts: 0, open: 0, fresh: 1, numbers: 3, formal: 0, length: 4.087, negations: 0, self: 0 },
  ],
  [
    '- I never asked me, and nobody told us or my aunt: no, nothing, not once, cannot, and we had 1, 2, 3, 4 of them.',
    { again: 0, doubts: 1, open: 1, fresh: 1, numbers: 3, formal: 1, length: 4.7, negations: 4, self: 4 },
  ],
  [
    'Lanterns, lantern lanterns! Lanterns lanterns lanterns',
    { again: 0, doubts: 0, open: 0, fresh: 0.25, numbers: 0, formal: 0, length: 3, negations: 0, self: 0 },
  ],
  ['Wait, no: is it forty-nine lettersX?', null],
])('a paragraph of thinking is measured: %s', (paragraph, measured) => {
  const found = measure(new Set(), paragraph);
  expect(found && Object.fromEntries(Object.entries(found).map(([name, value]) => [name, rounded(value)]))).toEqual(
    measured,
  );
});

test('returns add up paragraph by paragraph, and work that is done takes them away', () => {
  const returns = noReturns();
  const back = 'Wait, let me go back. Is it not still the same question, whether the trains meet or not?\n\n';
  const work = 'x = 3 + 4 = 7\ny = 3 * 4 = 12, z = x + y = 19 lanterns\n\n';
  const states = [back, back, back, work, work, work, back].map((paragraph, at) => {
    const raised = turnBack(returns, paragraph, 10 * at);
    const { evidence, count, first, period } = returns;
    return [raised, rounded(evidence), count, first, period];
  });
  expect(states).toEqual([
    [true, 2, 1, 0, 1],
    [true, 4, 2, 0, 10],
    [true, 6, 3, 0, 10],
    [false, 1.5, 4, 0, 10],
    [false, 0, 0, 0, 10],
    [false, 0, 0, 0, 10],
    [true, 2, 1, 51, 10],
  ]);
});

test('lines that came twice before fill the share of what is known; a table needs four', () => {
  const known = noLines();
  const one = sentencesOf('The lantern stands beside the harbour gate again and again today.\n')[0];
  if (!one) throw new Error('no sentence');
  const states = repeat(40, (at) => {
    notice(known, { ...one, start: 20 * at, end: 20 * at + 20 });
    return [rounded(known.share), rounded(known.copies), known.tokens, known.since];
  });
  expect([states[1], states[2], states[11], states[12], states[39]]).toEqual([
    [0, 1.075, 0, 40],
    [0.075, 1.22, 0, 60],
    [0.543, 4.91, 40, 200],
    [0.577, 5.519, 60, 200],
    [0.949, 28.298, 600, 200],
  ]);
});

test('novelty falls in a text of few tokens and comes back with new ones', () => {
  const novelty = nothingWritten();
  const after = (count: number, id: (at: number) => number) => {
    for (let at = 0; at < count; at++) observe(novelty, id(at));
    const { rate, copies, poor } = novelty;
    return [rounded(rate), rounded(copies), rounded(entropy(novelty)), poor, fading(novelty), collapsed(novelty)];
  };
  expect([
    after(256, (at) => at % 16),
    after(1, () => 3),
    after(1000, (at) => at % 16),
    after(300, (at) => at % 3),
    after(300, (at) => 1000 + at),
  ]).toEqual([
    [0.394, 6.501, 4, 0, false, false],
    [0.396, 6.479, 4, 0, false, false],
    [0.008, 62.904, 4, 0, true, true],
    [0.007, 78.752, 1.585, 61, true, true],
    [0.684, 25.04, 8, 0, false, false],
  ]);
});

test('a period is seen when its second copy is whole, also where the first room for ids ends', () => {
  const seenAt = (before: number, period: number) => {
    const periods = noPeriods();
    for (let at = 0; at < before; at++) advance(periods, 100_000 + at);
    for (let at = 0; at < 3 * period; at++) if (advance(periods, at % period)) return at + 1;
    return null;
  };
  expect([8, 9, 30, 700].map((period) => seenAt(0, period))).toEqual([16, 18, 60, 1400]);
  expect(seenAt(4090, 30)).toBe(60);
  expect(seenAt(5, 10)).toBe(20);
});
