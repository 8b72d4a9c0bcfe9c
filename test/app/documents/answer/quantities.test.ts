// Which numbers, with which units, a sentence says.
import { expect, test } from 'vitest';
import { confirms, quantitiesIn } from '../../../../app/documents/answer/quantities.ts';

const shown = (text: string) =>
  quantitiesIn(text).map(
    ({ value, unit, start, end, firm }) => `${value} ${unit}${firm ? '' : '?'} ${text.slice(start, end)}`,
  );

test.each([
  ['€1,200.50', ['1200.5 euro €1,200.50']],
  ['EUR 7 and 7 £', ['7 euro EUR 7 and', '7 pound 7 £']],
  ['2.5 million people', ['2500000 person 2.5 million people']],
  ['0.000001 million', ['1 null 0.000001 million']],
  ['twenty-one days', ['21 day twenty-one days']],
  ['two hundred and five thousand', ['205000 null two hundred and five thousand']],
  ['a hundred pages', ['100 page a hundred pages']],
  ['three million two hundred', ['3000200 null three million two hundred']],
  ['a thousand', ['1000 null a thousand']],
  ['007, 1.50, 3.', ['7 null 007', '1.5 null 1.50', '3 null 3']],
  ['12,34 and 1,234,567', ['12,34 null 12,34 and', '1234567 null 1,234,567']],
  ['one of them', ['1 null? one of']],
  ['one month', ['1 month one month']],
  ['a month, a dog', ['1 month? a']],
  ['both keys, a dozen keys', ['2 null? both', '12 null? dozen']],
  ['the 3rd week', ['3 week 3rd week']],
  ['the third week', ['3 week? third']],
])('%s', (text, expected) => expect(shown(text)).toEqual(expected));

test('a number confirms the same one with the same unit, or where one of them has none', () => {
  const yes = (said: string, claimed: string) =>
    quantitiesIn(claimed).every((one) => confirms(quantitiesIn(said), one));
  expect(yes('3 months', 'three months')).toBe(true);
  expect(yes('3', 'three months')).toBe(true);
  expect(yes('3 months', '3')).toBe(true);
  expect(yes('3 months', '3 years')).toBe(false);
  expect(yes('3 months', '4 months')).toBe(false);
  expect(yes('', '4 months')).toBe(false);
});
