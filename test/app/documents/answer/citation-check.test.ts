import { expect, test } from 'vitest';
import { quoteFrom } from '../../../../app/documents/answer/best-quote.ts';
import { checkCitations } from '../../../../app/documents/answer/citation-check.ts';
import { citationsIn, citedIn, withoutMarkers } from '../../../../app/documents/answer/citations.ts';
import { quantitiesIn } from '../../../../app/documents/answer/quantities.ts';
import { statementsOf } from '../../../../app/documents/chunk/sentence-splitter.ts';
import { contentWords, wordsAmong } from '../../../../app/documents/search/stemming.ts';
import type { Grounding, Source } from '../../../../app/protocol/index.ts';

const texts = [
  'Rent and payment\n\nThe monthly rent is 840 euros. Heating is charged on top with an advance of 165 euros. Payment is due on the third working day.',
  'Keeping animals\n\nCats need no permission. A dog may be kept only after the landlord has agreed in writing.',
  'Repairs\n\nAnything larger is reported to the caretaker, Mr Osman. The sign says "No bicycles in the hall".',
];

const grounding: Grounding = {
  found: true,
  by: 'words',
  question: '',
  support: [],
  quote: null,
  sources: texts.map(
    (text, at) =>
      ({ number: at + 1, name: 'Lease', label: `p. ${at + 1}`, text, spans: [], cited: false }) as unknown as Source,
  ),
};

test('a quote says where its own words begin, be it on another page than its passage', () => {
  const place = (page: number) => ({ kind: 'page' as const, page, rectangles: [] });
  const spans = [
    { start: 0, end: 16, place: place(3) },
    { start: 17, end: 40, place: place(4) },
  ];
  const source = { ...grounding.sources[0], number: 2, location: { kind: 'page', page: 3 }, spans } as Source;
  expect(quoteFrom(source, [20, 30])).toEqual({ source: 2, start: 20, end: 30, location: { kind: 'page', page: 4 } });
  expect(quoteFrom({ ...source, spans: [] }, [20, 30]).location).toEqual({ kind: 'page', page: 3 });
});

const levels = (answer: string) => checkCitations(answer, grounding).support.map(({ level }) => level);

test('a sentence that stands there is supported, and the evidence is where it stands', () => {
  const answer = 'The monthly rent is 840 euros [1]. A dog needs the written agreement of the landlord [2].';
  const { sources, support } = checkCitations(answer, grounding);
  expect(sources.map(({ cited }) => cited)).toEqual([true, true, false]);
  expect(support.map(({ source }) => source)).toEqual([1, 2]);
  expect(support[0]).toMatchObject({ level: 'supported' });
  expect(support.map(({ start, end }) => answer.slice(start, end))).toEqual([
    'The monthly rent is 840 euros [1].',
    'A dog needs the written agreement of the landlord [2].',
  ]);
  expect(texts[0]?.slice(...(support[0]?.evidence ?? [0, 0]))).toBe('The monthly rent is 840 euros.');
});

test.each([
  ['a wrong number', 'The monthly rent is 480 euros [1].', 'none'],
  ['a number that belongs to something else', 'The monthly rent is 165 euros [1].', 'weak'],
  ['the same number written otherwise', 'The monthly rent is 840.00 euros [1].', 'supported'],
  ['a wrong quotation', 'The sign says "No dogs in the hall" [3].', 'none'],
  ['a right quotation', 'The sign says "No bicycles in the hall" [3].', 'supported'],
  ['a wrong name', 'Anything larger is reported to the caretaker, Mr Varga [3].', 'weak'],
  ['the opposite', 'Cats do need the permission [2].', 'weak'],
  ['another source than the cited one', 'The monthly rent is 840 euros [2].', 'weak'],
  ['one right and one wrong number', 'The monthly rent is 840 euros with heating of 195 euros [1].', 'none'],
  [
    'two right numbers',
    'The monthly rent is 840 euros, with heating charged at an advance of 165 euros [1].',
    'supported',
  ],
  ['an ordinal in digits', 'Payment is due on the 3rd working day [1].', 'supported'],
  ['something else', 'The cellar floods every spring [1].', 'none'],
])('%s', (_, answer, level) => expect(levels(answer)).toEqual([level]));

test('a marker without a source is no citation, and code cites nothing', () => {
  const { sources, support } = checkCitations(
    'The rent is 840 euros [7]. See `list[1]` and\n```\nx[2] = 1\n```',
    grounding,
  );
  expect(sources.some(({ cited }) => cited)).toBe(false);
  expect(support[0]).toMatchObject({ source: 1, level: 'supported' });
  expect([...citedIn('[1, 3] and [2][4]')]).toEqual([1, 3, 2, 4]);
  expect(citationsIn('[x] [0x1] [12345] []')).toEqual([]);
  expect(withoutMarkers('see [12] and [3, 4], not [a]')).toBe('see (12) and (3, 4), not [a]');
});

test('a citation behind the full stop belongs to the sentence before it', () => {
  const { support } = checkCitations('The monthly rent is 840 euros. [2] Cats need no permission. [2]', grounding);
  expect(support.map(({ level }) => level)).toEqual(['weak', 'supported']);
});

test('sentences end where they end', () => {
  const cut = (text: string) => statementsOf(text).map(([start, end]) => text.slice(start, end));
  expect(cut('Dr. Novak came at 9.30 p.m. on Friday. He left, see p. 3, soon.')).toEqual([
    'Dr. Novak came at 9.30 p.m. on Friday.',
    'He left, see p. 3, soon.',
  ]);
  expect(cut('J. Keller signed. E. Varga did not.')).toEqual(['J. Keller signed.', 'E. Varga did not.']);
  expect(cut('Rent | 840\nDeposit | 2,520')).toEqual(['Rent | 840', 'Deposit | 2,520']);
  expect(cut('a line that was\nwrapped by the page')).toEqual(['a line that was\nwrapped by the page']);
  expect(cut('- one\n- two\n\n')).toEqual(['- one', '- two']);
  expect(cut('')).toEqual([]);
});

test('words and numbers are compared by what they say', () => {
  expect(contentWords('The tenants’ payments, and the Größe of Cafés')).toEqual(['tenant', 'payment', 'groß', 'cafe']);
  expect([
    ...wordsAmong(
      'The tenants’ payments are due.',
      new Map([
        ['tenant', 1],
        ['payment', 1],
        ['due', 1],
        ['cat', 1],
      ]),
    ),
  ]).toEqual(['tenant', 'payment', 'due']);
  expect(contentWords('日本語')).toEqual(['日本', '本語']);
  const numbers = quantitiesIn('1,200.00 and 1200, 14:30, 03, 7.50').map(({ value }) => value);
  expect(numbers).toEqual(['1200', '1200', '14:30', '3', '7.5']);
});

const notice = (text: string): Grounding => ({
  ...grounding,
  sources: [{ number: 1, name: 'Lease', location: null, text, spans: [], cited: false } as unknown as Source],
});

test.each([
  ['The notice period is three months.', 'The notice period is 3 months.', 'supported'],
  ['The notice period is 3 months.', 'The notice period is three months.', 'supported'],
  ['There is a three-month notice period.', 'The notice period is 3 months.', 'supported'],
  ['The notice period is three months.', 'The notice period is four months.', 'none'],
  ['The notice period is three months.', 'The notice period is 3 years.', 'none'],
  ['The notice period is a month.', 'The notice period is one month.', 'supported'],
  ['The notice period is 1 month.', 'The notice period is two months.', 'none'],
  ['The deposit of the flat is €1,200.', 'The deposit of the flat is 1200 euros.', 'supported'],
  ['The deposit of the flat is €1,200.', 'The deposit of the flat is twelve hundred dollars.', 'none'],
  ['The hall seats two hundred and fifty guests.', 'The hall seats 250 guests.', 'supported'],
  ['The hall seats twenty-one guests.', 'The hall seats 21 guests.', 'supported'],
  ['The town has 2.5 million inhabitants.', 'The town has 2,500,000 inhabitants.', 'supported'],
  ['Both tenants sign the contract.', 'The two tenants sign the contract.', 'supported'],
  ['Interest is 5 percent of the debt.', 'Interest is 5% of the debt.', 'supported'],
  ['One of the keys opens the cellar.', 'A key opens the cellar.', 'supported'],
])('%s ▸ %s: %s', (text, answer, level) => {
  expect(checkCitations(answer, notice(text)).support.map((support) => support.level)).toEqual([level]);
});
