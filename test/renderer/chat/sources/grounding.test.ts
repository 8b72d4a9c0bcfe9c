import { describe, expect, test } from 'vitest';
import {
  type ChatId,
  type ClaimCheck,
  type Grounding,
  quoteStandsAlone,
  type Source,
} from '../../../../app/protocol/index.ts';
import {
  aroundClosest,
  attachedChips,
  citedSources,
  countOf,
  markFor,
  remarksOf,
  sourceOf,
} from '../../../../renderer/chat/sources/grounding.ts';
import { type Held, heldAt } from '../../../../renderer/lib/scroll-anchor.ts';
import { newMessage } from '../../../support/fakes/world.ts';

const source = (number: number, cited = false): Source => ({
  number,
  passageId: `p${number}` as Source['passageId'],
  documentId: 'd' as Source['documentId'],
  collectionId: 'c' as Source['collectionId'],
  name: 'Paper',
  location: { kind: 'page' as const, page: 3 },
  text: 'A state of fixed size.',
  spans: [],
  cited,
});
const support = (level: ClaimCheck['level'], end: number, about: Partial<ClaimCheck> = {}): ClaimCheck => ({
  start: 0,
  end,
  level,
  source: null,
  evidence: null,
  ...about,
});
const grounding = (sources: Source[], sentences: ClaimCheck[] = []): Grounding => ({
  found: true,
  by: 'words',
  question: '',
  sources,
  support: sentences,
  quote: null,
});
const answer = (text: string, given: Grounding | null) =>
  newMessage('chat' as ChatId, 'assistant', { text, grounding: given });

describe('sources of an answer', () => {
  test('those that are cited; while it is written, those it has named; before that, all', () => {
    const numbers = (text: string, sources: Source[]) =>
      citedSources(answer(text, grounding(sources))).map(({ number }) => number);
    expect(numbers('So it is.', [source(1, true), source(2), source(3, true)])).toEqual([1, 3]);
    expect(numbers('So it is [2].', [source(1), source(2)])).toEqual([2]);
    expect(numbers('So', [source(1), source(2)])).toEqual([1, 2]);
    expect(citedSources(answer('So', null))).toEqual([]);
  });

  test('a number that is no source has none', () => {
    const message = answer('See [7].', grounding([source(1)]));
    expect(sourceOf(message, 7)).toBeNull();
    expect(sourceOf(message, 1)?.name).toBe('Paper');
    expect(sourceOf(null, 1)).toBeNull();
  });

  test('a mark carries the evidence of all sentences that rest on the source', () => {
    const given = grounding(
      [source(1)],
      [
        support('supported', 5, { source: 1, evidence: [2, 7] }),
        support('weak', 9, { source: 1, evidence: [8, 12] }),
        support('supported', 12, { source: 2, evidence: [0, 3] }),
      ],
    );
    expect(markFor(given, source(1)).evidence).toEqual([
      [2, 7],
      [8, 12],
    ]);
  });

  test('the quoted words are marked alone when they were chosen', () => {
    const quote = { source: 1, start: 2, end: 7, location: { kind: 'page' as const, page: 3 } };
    const given = {
      ...grounding([source(1), source(2)], [support('weak', 9, { source: 1, evidence: [8, 12] })]),
      quote,
    };
    expect(markFor(given, source(1), true).evidence).toEqual([[2, 7]]);
    expect(markFor(given, source(1)).evidence).toEqual([[8, 12]]);
    expect(markFor(given, source(2), true).evidence).toEqual([]);
  });

  test('only sentences that are not borne out get a word', () => {
    const given = grounding([source(1)], [support('supported', 5), support('none', 9), support('weak', 20)]);
    expect(remarksOf(given)).toEqual([
      { end: 9, index: 1 },
      { end: 20, index: 2 },
    ]);
    expect(countOf(given, 'none')).toBe(1);
    expect(remarksOf(null)).toEqual([]);
  });
});

describe('an answer that names no source', () => {
  const sentences = [
    support('supported', 8, { source: 2, evidence: [0, 3] }),
    support('weak', 12, { source: 1 }),
    support('none', 20),
  ];
  test('has chips behind the sentences that stand in one', () => {
    const message = answer('It is so. Or so. Or not so.', grounding([source(1), source(2)], sentences));
    expect(attachedChips(message)).toEqual([{ end: 8, number: 2 }]);
    expect(citedSources(message).map(({ number }) => number)).toEqual([2]);
  });
  test('one that names any has only its own', () => {
    expect(attachedChips(answer('It is so [1].', grounding([source(1), source(2)], sentences)))).toEqual([]);
    expect(attachedChips(answer('It is so.', grounding([source(1, true), source(2)], sentences)))).toEqual([]);
    expect(attachedChips(answer('It is so.', null))).toEqual([]);
  });
});

const alone = (text: string, found: Grounding | null, usage: { answerTokens: number } | null = null) =>
  quoteStandsAlone({ text, grounding: found, usage });

describe('an answer that denies what was found', () => {
  const quote = { source: 1, start: 0, end: 7, location: { kind: 'page' as const, page: 3 } };
  const found = { ...grounding([source(1)]), quote };
  test.each([
    ['I could not find that in your documents.', true],
    ["I'm sorry, but I couldn't find this in the passages.", true],
    ['The passages do not contain the answer.', true],
    ['I could not find that in your documents. [1]', true],
    ['The rent is 840 euros.', false],
    ['I could not find a better place than the mill, and so I stayed.', false],
    [
      `I could not find the price of the first year. In the second year it was 40 euros, in the third 60 euros${', and more'.repeat(10)}.`,
      false,
    ],
  ])('%s: %s', (text, denies) => expect(alone(text, found)).toBe(denies ? 'denied' : null));
  test('stands where nothing is quoted', () => {
    expect(alone('I could not find that in your documents.', grounding([source(1)]))).toBeNull();
    expect(alone('I could not find that in your documents.', { ...found, found: false })).toBeNull();
    expect(alone('I could not find that in your documents.', null)).toBeNull();
  });
});

test('an answer that is the sentence which was found is told from one with words of its own', () => {
  const text = 'The rent is 840 euros a month, payable in advance.';
  const found = {
    ...grounding([{ ...source(1), text }]),
    quote: { source: 1, start: 0, end: text.length, location: { kind: 'page' as const, page: 3 } },
  };
  expect(alone(`${text} [1]`, found)).toBe('quoted');
  expect(alone(text, found)).toBe('quoted');
  // Read as it was written: it does not vanish at its end.
  expect(alone(`${text} [1]`, found, { answerTokens: 12 })).toBeNull();
  expect(alone(`${text} So it is 10,080 euros a year. [1]`, found)).toBeNull();
  expect(alone(`${text} [1]`, { ...found, found: false })).toBeNull();
});

test('the closest sentence stands between what is around it, cut at words', () => {
  const text = `${'before '.repeat(60)}This is it.${' after'.repeat(60)}`;
  const start = text.indexOf('This');
  const given = {
    ...grounding([source(1)]),
    found: false,
    quote: { source: 1, start, end: start + 11, location: null },
  };
  const around = aroundClosest(given, { ...source(1), text });
  expect(around?.sentence).toBe('This is it.');
  expect(around?.before).toMatch(/^… before( before)* $/);
  expect(around?.after).toMatch(/^( after)+…$/);
  expect(aroundClosest(given, source(2))).toBeNull();
  const short = aroundClosest({ ...given, quote: { source: 1, start: 0, end: 7, location: null } }, source(1));
  expect(short).toEqual({ before: '', sentence: 'A state', after: ' of fixed size.' });
});

test('a held line is put back to its height until everything has settled', () => {
  let top = 300;
  let now = 0;
  const element = { getBoundingClientRect: () => ({ top }), isConnected: true } as unknown as Element;
  const scroller = { scrollTop: 1000 } as HTMLElement;
  const held: Held = heldAt(element, () => now);
  top = 380;
  expect(held.keep(scroller)).toBe(true);
  expect(scroller.scrollTop).toBe(1080);
  // A panel that takes long to draw: time passes, frames do not.
  now = 10_000;
  top = 400;
  expect(held.keep(scroller)).toBe(true);
  expect(scroller.scrollTop).toBe(1180);
  top = 300;
  for (let frame = 0; frame < 40; frame++) held.keep(scroller);
  top = 500;
  expect(held.keep(scroller)).toBe(false);
});
