import { expect, test } from 'vitest';
import type { Finding, GuardOptions } from '../../../../app/text/loop/finding.ts';
import type { Place } from '../../../../app/text/loop/levels.ts';
import { LoopGuard } from '../../../../app/text/loop/loop-detector.ts';
import { prose } from './corpus/prose.ts';
import { repeat, seeded } from './corpus/random.ts';
import reworded from './corpus/reworded.json' with { type: 'json' };
import { tokens } from './tokens.ts';

const DOUBT = 'But maybe Cem and Dana could swap, and then the chair beside the door stays empty. ';
const lead = prose(seeded('lead'), 12);

const guardWith = (options: Partial<GuardOptions> = {}) =>
  new LoopGuard({ sensitivity: 'balanced', inAnswers: true, ...options });

function write(guard: LoopGuard, text: string, place: Place = 'thinking'): Finding[] {
  return tokens(text, 'starter').flatMap(({ id, text: piece }) => guard.push(id, piece, place) ?? []);
}

const cards = (findings: readonly Finding[]) => findings.filter(({ degree }) => degree === 'card');

/** Copies of the doubt that are written when the guard speaks. */
function copiesUntilAsked(guard: LoopGuard, limit: number, place: Place = 'thinking'): number | null {
  for (let copies = 1; copies <= limit; copies++) if (write(guard, DOUBT, place).length > 0) return copies;
  return null;
}

const letters = (at: number) =>
  `${'bdfgklmnprstvwxz'[at >> 4]}${'aeiouaeiouaeioua'[at & 15]}${'bcdfghjklmnpqrst'[at & 15]}`;
const sorts: [string, (at: number) => string][] = [
  ['words', (at) => ` ${letters(at)}o`],
  ['code', (at) => `  ${letters(at)}(x);\n`],
  ['data', (at) => `${at * 7919}, `],
];

test.each(
  sorts.flatMap(([sort, piece]) => (['thinking', 'answer'] as const).map((place) => [sort, place, piece] as const)),
)('a period of any length is seen in %s as %s', (_, place, piece) => {
  const guard = guardWith();
  let found: Finding | null = null;
  for (let at = 0; found?.degree !== 'card' && at < 6 * 256; at++)
    found = guard.push(1000 + (at % 256), piece(at % 256), place);
  expect(found?.periodTokens).toBe(256);
  expect(found?.repeats).toBeLessThanOrEqual(4);
  expect(found?.endToken).toBeLessThan(4 * 256);
});

test.each([700, 5_000, 40_000])('%i tokens that come again and again are seen within four copies', (period) => {
  const guard = guardWith();
  let found: Finding | null = null;
  let at = 0;
  for (; found?.degree !== 'card' && at < 6 * period; at++)
    found = guard.push(100 + (at % period), ` w${at % period}`, 'answer');
  expect(found).toMatchObject({ kind: 'exact', periodTokens: period });
  expect(at).toBeLessThanOrEqual(4 * period);
});

test('a long period with shorter repetitions inside is one period', () => {
  const guard = guardWith();
  const row = [...Array.from({ length: 20 }, () => 1), 2, ...Array.from({ length: 40 }, (_, at) => 10 + at)];
  let found: Finding | null = null;
  for (let at = 0; !found && at < 8 * row.length; at++) {
    const id = row[at % row.length] ?? 0;
    found = guard.push(id, ` x${id}`, 'answer');
  }
  expect(found).toMatchObject({ kind: 'exact', periodTokens: row.length });
});

test('a list that only counts on is worth a quiet line, not a card, and is said once until it has doubled', () => {
  const lines = repeat(
    40,
    (n) => `${n + 1}. Move the car L up by one space to the free field beside the gate ${n + 7}.\n`,
  );
  const found = write(guardWith(), lines.join(''), 'answer');
  expect(found.map(({ degree }) => degree)).toEqual(['quiet', 'quiet']);
  expect(found[1]?.repeats).toBeGreaterThanOrEqual(2 * (found[0]?.repeats ?? 0));
});

test('the same move again and again is a loop, whatever number stands before it', () => {
  const lines = repeat(12, (n) => `${n + 1}. Move the car "L" up by one space to the free field.\n`);
  const [line, card] = write(guardWith(), lines.join(''), 'answer');
  expect(line).toMatchObject({ degree: 'quiet', kind: 'entries', repeats: 3 });
  expect(card).toMatchObject({ degree: 'card', kind: 'entries', repeats: 6 });
});

const pour = '  "fill A",\n  "pour A->B",\n  "empty B",\n  "pour A->B",\n';
const face = '   Y Y R\n   Y W R\n   Y W W\nG G O B B B\nG G O B O O\n';
test.each([
  ['moves', 'answer', pour, 6],
  ['moves', 'thinking', pour, 6],
  ['a state that is printed after each step', 'answer', face, 7],
  ['a state that is printed after each step', 'thinking', face, 7],
] as const)('%s in the %s, the same some times: a quiet line; without end: a card', (_, place, once, sound) => {
  const guard = guardWith();
  const few = write(guard, repeat(sound, () => once).join(''), place);
  expect(few.map(({ kind, degree }) => `${degree} ${kind}`)).toContain('quiet exact');
  expect(cards(few)).toEqual([]);
  expect(cards(write(guard, repeat(60, () => once).join(''), place))).toMatchObject([{ kind: 'exact' }]);
});

test('a matrix of zeros whose rows differ is noticed when it does not end', () => {
  const rows = (count: number) =>
    repeat(count, (row) => `${repeat(8 + ((row * row) % 7), () => '0').join(' ')}\n`).join('');
  expect(write(guardWith(), rows(60), 'answer')).toEqual([]);
  const found = write(guardWith(), rows(800), 'answer');
  expect(found[0]).toMatchObject({ degree: 'quiet', kind: 'collapse' });
  expect(cards(found)).toEqual([]);
});

test('a comparison bit by bit, and one result for many values, are no list that is worn out', () => {
  const bits = [...'110000010100101111'].map((bit, at) => {
    const want = String(at % 2);
    return `${at + 1}. '${bit}' != '${want}' (${bit === want ? 'match' : 'mismatch'})\n`;
  });
  expect(write(guardWith(), bits.join(''), 'answer').filter(({ degree }) => degree === 'card')).toEqual([]);
  const cells = [...'220022000222200220'].map(
    (cell, at) =>
      `${at + 1}. The next element is ${cell}, and the output is ${cell}. So a ${cell} remains a ${cell}.\n`,
  );
  expect(cards(write(guardWith(), cells.join(''), 'answer'))).toEqual([]);
  expect(cards(write(guardWith(), cells.join(''), 'thinking'))).toEqual([]);
});

test('a mail merge, a grid of zeros and a trace of moves are none', () => {
  const names = 'Amara Bao Chidi Delphine Emre Farida Goran Hana Ines Jarek Kwame Leilani'.split(' ');
  const mails = names.map(
    (name) => `Dear ${name},\n\nThank you for the order. It will be sent tomorrow at nine.\n\n---\n\n`,
  );
  expect(cards(write(guardWith(), mails.join(''), 'answer'))).toEqual([]);
  expect(
    cards(write(guardWith(), `[${repeat(20, () => ` [${repeat(20, () => 0).join(', ')}],\n`).join('')}]`, 'answer')),
  ).toEqual([]);
  const column = `[\n${repeat(3, () => `  [\n${repeat(45, () => '    0,\n').join('')}  ],\n`).join('')}]`;
  expect(cards(write(guardWith(), column, 'answer'))).toEqual([]);
  const picture = repeat(24, (row) => repeat(20, (cell) => ((row + cell) % 7 === 0 ? '✅' : '❌')).join('')).join('\n');
  expect(cards(write(guardWith(), picture, 'answer'))).toEqual([]);
  const moves: string[] = [];
  const hanoi = (disks: number, from: number, to: number, over: number) => {
    if (disks === 0) return;
    hanoi(disks - 1, from, over, to);
    moves.push(`Move disk ${disks} from Peg ${from} to Peg ${to}\n`);
    hanoi(disks - 1, over, to, from);
  };
  hanoi(7, 1, 3, 2);
  expect(write(guardWith(), moves.join(''), 'answer')).toEqual([]);
  expect(cards(write(guardWith(), moves.join(''), 'thinking'))).toEqual([]);
});

test('thinking that takes the same thing up again in other words gets a quiet line, with as many returns', () => {
  const text = `The question is whether the two trains meet before noon, which depends on the direction in which they run.

Wait, let me reconsider the direction. The question does not say whether the trains run towards each other before noon.

Hmm, but maybe the direction is given after all. The question says two trains, and whether they meet depends on it.

Actually, let me go back to the question. The trains meet before noon, unless the direction is the same. I am not sure.

On the other hand, the trains may run in the same direction, and then they would not meet. The question does not say it.

Perhaps the question wants the direction to be assumed, although it does not say so. Should I assume the trains meet?

Wait, once more. Whether they meet before noon depends on the direction, and the question still does not say which.

`;
  expect(write(guardWith(), text)[0]).toMatchObject({ degree: 'quiet', kind: 'returns', repeats: 4 });
  expect(write(guardWith(), text, 'answer')).toEqual([]);
});

test.each(reworded.map(({ lead: begin, copies }) => [begin.trim(), copies] as const))(
  'worded anew eight times, it is said within six: %s',
  (begin, copies) => {
    const text = [begin, ...copies.slice(0, 6), ''].join('\n\n');
    expect(write(guardWith(), text)[0]).toMatchObject({
      degree: 'quiet',
      kind: 'returns',
    });
  },
);

test('thinking that sets out a step of the work in each paragraph is no return, however often it says "wait"', () => {
  const steps = Array.from({ length: 12 }, (_, at) => {
    const [a, b] = [17 + 31 * at, 23 + 12 * at];
    return `Wait, now the part for row ${at + 1}: ${a} + ${b} = ${a + b}, so ${a + b - 5} is left when 5 are taken away. Is it even? ${a + b} is.\n\n`;
  });
  expect(write(guardWith(), steps.join('')).filter(({ kind }) => kind === 'returns')).toEqual([]);
});

test('the same doubts beside what is worked out in lines each time are no return', () => {
  const { lead: begin, copies } = reworded[0] ?? { lead: '', copies: [] };
  const worked = copies.map((copy) => `${copy}\n  x = y + z, so y = x - z`);
  const returned = (text: string) => write(guardWith(), text).filter(({ kind }) => kind === 'returns');
  expect(returned([begin, ...copies, ''].join('\n\n'))).not.toEqual([]);
  expect(returned([begin, ...worked, ''].join('\n\n'))).toEqual([]);
});

test('a loop that goes over from thinking into the answer is found with its first whole copy there', () => {
  const guard = guardWith();
  write(guard, DOUBT.repeat(2), 'thinking');
  expect(copiesUntilAsked(guard, 6, 'answer')).toBeLessThanOrEqual(3);
});

test('the evidence names the text, the copies, the period and the places', () => {
  const guard = guardWith();
  const before = tokens(`${lead} `, 'starter').length;
  const period = tokens(DOUBT.repeat(2), 'starter').length - tokens(DOUBT, 'starter').length;
  const [found] = write(guard, `${lead} ${DOUBT.repeat(5)}`);
  expect(found).toMatchObject({ where: 'thinking', kind: 'exact', repeats: 3, periodTokens: period, times: 1 });
  expect(found?.text.replace(/\s+/g, ' ')).toContain('Cem and Dana could swap');
  expect(Math.abs((found?.startToken ?? 0) - before)).toBeLessThanOrEqual(2);
  expect(found?.spentTokens).toBe((found?.endToken ?? 0) + 1 - (found?.startToken ?? 0) - period);
});

test('a counter that moves on does not make a copy new, in thinking', () => {
  const attempts = repeat(
    8,
    (n) => `Attempt ${n + 7}: multiply the two sides and compare. The result does not match, so try again.\n`,
  );
  expect(write(guardWith(), attempts.join(''))[0]).toMatchObject({ kind: 'similar', repeats: 3 });
});

test('sums that go on are not a loop', () => {
  const steps = repeat(
    40,
    (n) =>
      `Multiply ${n * 7 + 3} by ${(n % 8) + 2}, which gives ${(n * 7 + 3) * ((n % 8) + 2)}, and carry ${n % 5} to the next column.\n`,
  );
  expect(cards(write(guardWith(), steps.join('')))).toEqual([]);
});

test('watching, suspected, confirmed, acted: the drawn machine', () => {
  const guard = guardWith();
  write(guard, lead);
  expect(guard.state).toBe('watching');
  write(guard, ` ${DOUBT.repeat(2)}But`);
  expect(guard.state).toBe('suspected');
  write(guard, DOUBT.slice(3));
  write(guard, DOUBT.repeat(2));
  expect(guard.state).toBe('confirmed');
  guard.act(3);
  expect(guard.state).toBe('acted');
  write(guard, lead);
  expect(guard.state).toBe('watching');
});

test('nothing is said twice while nobody has decided', () => {
  expect(write(guardWith(), DOUBT.repeat(60))).toHaveLength(1);
});

test('"keep going" asks again only after twice as many copies, and says "twice now"', () => {
  const guard = guardWith();
  const first = write(guard, DOUBT.repeat(3))[0] ?? write(guard, DOUBT)[0];
  expect(first?.times).toBe(1);
  guard.act(first?.repeats ?? 0);
  const more = copiesUntilAsked(guard, 20) ?? 0;
  expect(more).toBeGreaterThanOrEqual(3);
  expect(more).toBeLessThanOrEqual(6);
});

test('after "keep going" and something else, a new loop is asked about at once', () => {
  const guard = guardWith();
  write(guard, DOUBT.repeat(4));
  guard.act(20);
  write(guard, prose(seeded('something else'), 40));
  expect(copiesUntilAsked(guard, 20)).toBeLessThanOrEqual(4);
});

test('after a rewind the same loop is found again as if for the first time, at the rewound place', () => {
  const guard = guardWith();
  write(guard, lead);
  const first = write(guard, ` ${DOUBT.repeat(5)}`)[0];
  guard.rewind(first?.startToken ?? 0);
  const again = write(guard, ` ${DOUBT.repeat(5)}`)[0];
  expect(again).toMatchObject({ times: 2, repeats: first?.repeats });
  expect(Math.abs((again?.startToken ?? 0) - (first?.startToken ?? 0))).toBeLessThanOrEqual(1);
});

test('a loop that was let go on and is then taken back is found as early as the first time', () => {
  const guard = guardWith();
  const begin = tokens(lead, 'starter').length;
  write(guard, lead);
  const first = copiesUntilAsked(guard, 10);
  guard.act(first ?? 0);
  guard.rewind(begin);
  expect([first, copiesUntilAsked(guard, 20)]).toEqual([first ?? 'none', first]);
});

test('a loop that starts in thinking and goes on in the answer is found in both', () => {
  const guard = guardWith();
  expect(write(guard, DOUBT.repeat(5), 'thinking')[0]?.where).toBe('thinking');
  expect(write(guard, DOUBT.repeat(6), 'answer')[0]?.where).toBe('answer');
});

test('an answer that repeats what was thought is not a loop', () => {
  const guard = guardWith();
  expect([
    ...write(guard, lead, 'thinking'),
    ...write(guard, lead, 'thinking'),
    ...write(guard, lead, 'answer'),
  ]).toEqual([]);
});

test('off is off, and answers can be left alone', () => {
  expect(write(guardWith({ sensitivity: 'off' }), DOUBT.repeat(30))).toEqual([]);
  expect(write(guardWith({ inAnswers: false }), DOUBT.repeat(30), 'answer')).toEqual([]);
  expect(write(guardWith({ inAnswers: false }), DOUBT.repeat(30), 'thinking')).toHaveLength(1);
});

test('the three sensitivities differ: strict asks first, relaxed last', () => {
  const asked = (['strict', 'balanced', 'relaxed'] as const).map(
    (sensitivity) => write(guardWith({ sensitivity }), 'no no wait '.repeat(200))[0]?.endToken ?? 0,
  );
  expect(asked[0]).toBeLessThan(asked[1] ?? 0);
  expect(asked[1]).toBeLessThan(asked[2] ?? 0);
});

test('words the user asked to have repeated are repeated eight times as long', () => {
  const line = 'I will not talk in class.\n';
  const asked = tokens(`Write this fifteen times: ${line}`, 'starter').map(({ id }) => id);
  expect(write(guardWith(), line.repeat(15), 'answer')).toHaveLength(1);
  expect(write(guardWith({ asked }), line.repeat(15), 'answer')).toEqual([]);
  expect(write(guardWith({ asked }), line.repeat(80), 'answer')).toHaveLength(1);
});

test('one letter for 100,000 tokens: found early, and cheap to the end', () => {
  const guard = guardWith();
  const found: Finding[] = [];
  const begin = process.cpuUsage();
  for (let at = 0; at < 100_000; at++) {
    const finding = guard.push(7, ' no', 'thinking');
    if (finding) {
      found.push(finding);
      guard.act(finding.repeats);
    }
  }
  const { user } = process.cpuUsage(begin);
  expect(found[0]?.endToken).toBeLessThan(50);
  // Each time after twice as many.
  expect(found.length).toBeLessThanOrEqual(Math.ceil(Math.log2(100_000 / 48)) + 1);
  expect(user / 100_000).toBeLessThan(20);
});

test('tokens without text, unknown ids and lone surrogates do no harm', () => {
  const guard = guardWith();
  for (let at = 0; at < 5000; at++) guard.push(at % 3 === 0 ? -1 : at * 2_654_435, at % 2 ? '' : '\ud83d', 'answer');
  expect(guard.state).toBe('watching');
});

test('a fence that is never closed still ends in a confirmation', () => {
  expect(write(guardWith(), `\`\`\`js\n${'console.log(total + 1);\n'.repeat(400)}`, 'answer')[0]).toMatchObject({
    kind: 'exact',
  });
});

test('a few sentences shuffled for ever are a collapse', () => {
  const random = seeded('shuffle');
  const said = [
    'Maybe the key is red. ',
    'Or the key could be blue. ',
    'Then the door opens. ',
    'But it stays shut. ',
    'So it is red. ',
  ];
  const text = repeat(900, () => random.pick(said)).join('');
  expect(cards(write(guardWith(), text)).length).toBe(1);
});

test('after "answer now" the loop of the thinking is known: its return in the answer is found with the second copy', () => {
  const guard = guardWith({ inAnswers: false });
  write(guard, lead);
  const found = write(guard, ` ${DOUBT.repeat(5)}`)[0];
  guard.remember(found?.startToken ?? 0);
  expect(write(guard, DOUBT, 'answer')).toEqual([]);
  // What is marked begins in the first half of the copy that the answer begins with.
  const [again] = write(guard, DOUBT, 'answer');
  const late = (again?.startToken ?? 0) - (found?.startToken ?? 0);
  expect(late).toBeLessThanOrEqual((found?.periodTokens ?? 0) / 2);
  expect(write(guard, DOUBT.repeat(20), 'answer')).toEqual([]);
});

test('an answer that takes up one sentence of the loop and goes on is no relapse', () => {
  const guard = guardWith();
  const found = write(guard, `${lead} ${DOUBT.repeat(5)}`)[0];
  guard.remember(found?.startToken ?? 0);
  expect(write(guard, `${DOUBT}${lead}`, 'answer')).toEqual([]);
});

test.each(['thinking', 'answer'] as const)(
  'a row that stands three times in a listing is no loop, eight times is, as %s',
  (place) => {
    const row = '  { "name": "lantern", "place": "harbour", "kept": true, "since": 1904 },\n';
    const seen = (copies: number) => cards(write(guardWith(), `${lead}\n\`\`\`json\n[\n${row.repeat(copies)}`, place));
    expect(seen(3)).toEqual([]);
    expect(seen(8)).toHaveLength(1);
  },
);
