//  Quantities in sentences, numbers with units: "three months", "3 months" and "3-month" are one quantity, and so
//  are "€840" and "840 euros". English.

export type Quantity = {
  value: string;
  /** A known unit in canonical spelling. */
  unit: string | null;
  /** [start, end) in the text, including the unit. */
  start: number;
  end: number;
  /** An explicit quantity. "A month" and "both" can only confirm another one. */
  firm: boolean;
};

const ONES = `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
  seventeen eighteen nineteen`.split(/\s+/);
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const ORDINALS = `first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth`.split(/\s+/);
const SCALES: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1000,
  million: 1e6,
  billion: 1e9,
};

const SMALL = new Map<string, number>([
  ...ONES.map((word, at) => [word, at] as const),
  ...TENS.map((word, at) => [word, 20 + 10 * at] as const),
]);
/** Words that may mean a number. */
const LOOSE = new Map<string, number>([
  ...ORDINALS.map((word, at) => [word, at + 1] as const),
  ['both', 2],
  ['pair', 2],
  ['couple', 2],
  ['twice', 2],
  ['double', 2],
  ['once', 1],
  ['single', 1],
  ['dozen', 12],
]);

/** All spellings of a unit, mapped to the first of their row. */
const UNITS = new Map(
  `second seconds sec secs
minute minutes min mins
hour hours h hr hrs
day days
week weeks
month months
year years yr yrs
decade decades
century centuries
euro euros eur €
dollar dollars usd $
pound pounds gbp £
yen jpy ¥
percent % pct
degree degrees °
metre metres meter meters
kilometre kilometres kilometer kilometers km
centimetre centimetres centimeter centimeters cm
millimetre millimetres millimeter millimeters mm
mile miles mi
foot feet ft
inch inches
gram grams gramme grammes g
kilogram kilograms kilogramme kilogrammes kilo kilos kg
tonne tonnes ton tons
litre litres liter liters l
millilitre millilitres milliliter milliliters ml
watt watts w
kilowatt kilowatts kw
megabyte megabytes mb
gigabyte gigabytes gb
person persons people
page pages
time times`
    .split('\n')
    .flatMap((row) => {
      const spellings = row.split(' ');
      return spellings.map((spelling) => [spelling, spellings[0] ?? ''] as const);
    }),
);

const NUMBER_WORD = [...SMALL.keys()].sort((a, b) => b.length - a.length).join('|');
const SCALE_WORD = Object.keys(SCALES).join('|');
/** "Twenty-one", "two hundred and five thousand"; "a hundred". */
const WORDS = `(?:${NUMBER_WORD}|an? (?=${SCALE_WORD}))(?:(?:[\\s-]+and[\\s-]+|[\\s-]+)?(?:${NUMBER_WORD}|${SCALE_WORD})\\b)*`;
const DIGITS = '\\p{N}+(?:[.,:/-]\\p{N}+)*';
const COUNTED = '[\\s-]*([€$£¥%°]|\\p{L}+)';
const EXACT = `([€$£¥]|\\b(?:EUR|USD|GBP|JPY) ?)?(?:(${DIGITS})(?:st|nd|rd|th)?(?:[\\s-]*(${SCALE_WORD})\\b)?|\\b(${WORDS})(?![\\p{L}\\p{N}]))(?:${COUNTED})?`;
/** The unit may itself begin with a number ("a three-month period"), so it is a lookahead. */
const VAGUE = `\\b(${[...LOOSE.keys()].join('|')}|an?|per|each)\\b(?=${COUNTED})`;
const FOUND = new RegExp(`${EXACT}|${VAGUE}`, 'giu');

export function quantitiesIn(text: string): Quantity[] {
  return [...text.matchAll(FOUND)].flatMap((match): Quantity[] => {
    const [whole, before = '', digits, scale, words, after, loose, ofWhat] = match;
    const unit = unitOf(before.trim()) ?? unitOf(after ?? ofWhat ?? '');
    const value =
      digits !== undefined ? inDigits(digits, scale) : words !== undefined ? inWords(words) : vague(loose ?? '', unit);
    if (value === null) return [];
    // "One of them" counts nothing; "one month" does.
    const firm = digits !== undefined || (words !== undefined && (value !== '1' || unit !== null));
    return [{ value, unit, start: match.index, end: match.index + whole.length, firm }];
  });
}

const unitOf = (spelling: string): string | null => UNITS.get(spelling.toLowerCase()) ?? null;

/** "1,200.00" and "1200" are one, "14:30" stays. */
function inDigits(digits: string, scale: string | undefined): string {
  const number = plainNumber(digits);
  const times = SCALES[scale?.toLowerCase() ?? ''];
  const value = Number(number);
  return times !== undefined && Number.isFinite(value) ? String(Math.round(value * times * 1e6) / 1e6) : number;
}

function plainNumber(number: string): string {
  const plain = number.normalize('NFKC');
  const whole = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(plain) ? plain.replaceAll(',', '') : plain;
  return whole
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
    .replace(/^0+(?=\d)/, '');
}

function inWords(words: string): string | null {
  let sum = 0;
  let group = 0;
  for (const word of words.toLowerCase().split(/[\s-]+/)) {
    const small = SMALL.get(word);
    const scale = SCALES[word];
    if (small !== undefined) group += small;
    else if (word === 'a' || word === 'an') group = 1;
    else if (scale === 100) group = (group || 1) * 100;
    else if (scale !== undefined) {
      sum += (group || 1) * scale;
      group = 0;
    }
  }
  return String(sum + group);
}

/** "A month" and "per day" mean one; "a dog" is not a quantity. */
function vague(word: string, unit: string | null): string | null {
  const known = LOOSE.get(word.toLowerCase());
  if (known !== undefined) return String(known);
  return unit === null ? null : '1';
}

/** Whether a text contains the quantity of a claim: the same number, with the same unit or none. */
export const confirms = (said: readonly Quantity[], { value, unit }: Quantity): boolean =>
  said.some((one) => one.value === value && (unit === null || one.unit === null || one.unit === unit));
