import { expect, test } from 'vitest';
import { LoopGuard } from '../../../../../app/text/loop/loop-detector.ts';
import { requestedLength } from '../../../../../app/text/loop/requested-length.ts';
import { tokens } from '../tokens.ts';
import { listsOf, noticed } from './lists.ts';

const middle = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.POSITIVE_INFINITY;

test('of a hundred held-out lists that go round 95 get a card, half of them within a hundred tokens', () => {
  const loops = listsOf('held-out').filter(({ loop }) => loop !== null);
  const seen = loops.map(noticed);
  const said = seen.flatMap((one) => one.said ?? []);
  const cards = seen.flatMap(({ card }) => card ?? []);
  console.log(
    `| lists that go round | ${loops.length} | said of ${said.length}, after ${middle(said, 0.5)} tokens (nine of ten: ` +
      `${middle(said, 0.9)}) | cards for ${cards.length}, after ${middle(cards, 0.5)} (${middle(cards, 0.9)}) |`,
  );
  expect(loops.length).toBeGreaterThanOrEqual(35);
  expect(said.length / loops.length).toBeGreaterThanOrEqual(0.97);
  expect(cards.length / loops.length).toBeGreaterThanOrEqual(0.95);
  expect(middle(said, 0.5)).toBeLessThan(60);
  expect(middle(cards, 0.5)).toBeLessThan(100);
});

/** What is said of a text as an answer to `question`. */
function saidOf(text: string, question = '') {
  const guard = new LoopGuard({ sensitivity: 'balanced', inAnswers: true, question });
  return tokens(text, 'starter').flatMap(({ id, text: piece }) => {
    const found = guard.push(id, piece, 'answer');
    if (found?.degree === 'card') guard.act(found.repeats);
    return found ? [found] : [];
  });
}
const numbered = (entries: readonly string[], from = 1) =>
  entries.map((entry, at) => `${from + at}. ${entry}\n`).join('');
const cities = ['Dubai (Dubai)', 'Sydney (Australia)', 'Berlin (Germany)', 'Lima (Peru)'];
const order = [0, 1, 2, 3, 1, 0, 2, 2, 3, 0, 3, 1, 1, 0, 2, 3, 0, 2, 1, 3, 2, 0, 1, 3];
const worn = numbered(order.map((at) => cities[at] as string));

test('a list that counts on with entries it has gets a line, then a card that shows whole entries', () => {
  const said = saidOf(worn);
  const [line] = said;
  const card = said.find(({ degree }) => degree === 'card');
  expect(line).toMatchObject({ kind: 'entries', degree: 'quiet', repeats: 4 });
  expect(card).toMatchObject({ kind: 'entries', degree: 'card' });
  expect(card?.text).toMatch(/^\d+\. /);
  expect(card?.text.trim().split('\n')).toHaveLength(5);
  // A rewind goes back to the first entry that was there before, and keeps the four that were new.
  const pieces = tokens(worn, 'starter').map(({ text }) => text);
  expect(pieces.slice(0, card?.startToken).join('')).toBe(numbered(cities));
});

test('entries that are new, and steps that are said again in another list, are left alone', () => {
  const names = Array.from({ length: 60 }, (_, at) => `Street number ${at + 1} of the old town`);
  expect(saidOf(numbered(names)).filter(({ kind }) => kind === 'entries')).toEqual([]);
  const steps = numbered(['Wash your hands', 'Dry them well', 'Put the gloves on', 'Call the next one']);
  const text = Array.from({ length: 8 }, (_, day) => `On day ${day} it goes like this\n\n${steps}\n`).join('');
  expect(saidOf(text).filter(({ kind }) => kind === 'entries')).toEqual([]);
});

test('short answers to many questions may be the same; a list of what was asked for may go on longer', () => {
  const labels = Array.from({ length: 20 }, (_, at) => (at % 3 === 0 ? 'Positive' : 'Negative'));
  expect(saidOf(numbered(labels)).filter(({ degree }) => degree === 'card')).toEqual([]);
  const lines = numbered(Array.from({ length: 20 }, () => 'I must not talk in class'));
  const cards = (question: string) =>
    saidOf(lines, question).filter(({ degree, kind }) => degree === 'card' && kind === 'entries');
  expect(cards('What should I do?').length).toBeGreaterThan(0);
  expect(cards('Write “I must not talk in class” twenty times, numbered.')).toEqual([]);
});

const entriesIn = (text: string, question = '') => saidOf(text, question).filter(({ kind }) => kind === 'entries');
const degrees = (text: string, question = '') => entriesIn(text, question).map(({ degree }) => degree);
/** Entries that come again and again in no fixed order. */
const shuffled = [...order, ...order.toReversed(), ...order, ...order.toReversed()];

test.each([
  ['bullets', (city: string) => `- The old town of ${city}, by train\n`],
  ['items of LaTeX', (city: string) => `\\item The old town of ${city}, by train\n`],
  ['lines of a talk', (city: string, at: number) => `${at % 2 ? 'Ann' : 'Ben'}: I would like to go to ${city}.\n`],
])('%s are worn out later than a list that counts', (_, line) => {
  const text = shuffled.map((city, at) => line(cities[city] as string, at)).join('');
  expect(degrees(text)).toContain('card');
  expect(degrees(text.slice(0, text.length / 8))).toEqual([]);
});

test('headings that count are entries, and the paragraphs below belong to them', () => {
  const text = order.map(
    (city, at) => `### ${at + 1}. ${cities[city]}\n\nIt is ${'abcdefghijklmnopqrstuvwx'[at]} far.\n\n`,
  );
  expect(degrees(text.join(''))).toContain('card');
});

test('past the number that was asked for a list needs half as many', () => {
  expect(requestedLength('List 50 different animals.')).toBe(50);
  expect(requestedLength('Count from 1 to 200, please')).toBe(200);
  expect(requestedLength('Give me 30 synonyms of "happy", in 2 columns')).toBe(30);
  for (const question of ['What is 47 + 85?', 'Who won in 1998?', 'Name 3 colours.', ''])
    expect(requestedLength(question)).toBe(null);
  const card = (question: string) => entriesIn(worn, question).find(({ degree }) => degree === 'card')?.repeats ?? 99;
  expect(card('List 6 towns')).toBeLessThan(card('List 50 towns'));
});

test('moves with the same few words are none', () => {
  const moves = ['Fill A', 'Pour A->B', 'Empty B', 'Pour B->A'];
  expect(degrees(numbered(order.map((at) => moves[at] as string)))).not.toContain('card');
});

test('a list in code is left alone', () => {
  expect(saidOf(`\`\`\`\n${worn}`).filter(({ kind }) => kind === 'entries')).toEqual([]);
});

test('a change log says the same under each version, with dots and without numbers', () => {
  const text = repeatedLog(
    '- Updated the translations of all the pages\n- Fixed the build on older systems\n- Faster start\n- Smaller files\n',
  );
  expect(saidOf(text).filter(({ kind }) => kind === 'entries')).toEqual([]);
});

test('now and then a new entry stands between: the row goes on; many of them end it', () => {
  const kinds = (every: number) => {
    const entries = Array.from({ length: 40 }, (_, at) =>
      at % every === 0 ? `A new idea of the kind ${'abcdefghijklmnopq'.charAt(at / every)}` : 'Bring a blanket along',
    );
    return saidOf(numbered(entries)).filter(({ kind, degree }) => kind === 'entries' && degree === 'card');
  };
  expect(kinds(8).length).toBeGreaterThan(0);
  expect(kinds(3)).toEqual([]);
});

/** Versions with the same entries. */
const repeatedLog = (entries: string) =>
  Array.from({ length: 10 }, (_, version) => `${entries}- Release of the ${version} series\n`).join('');
