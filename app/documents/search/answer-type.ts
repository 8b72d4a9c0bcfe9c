import type { Language } from './languages/language.ts';

//  The expected answer type of a question, as far as its wording tells, and whether a sentence contains such a thing. Rules for
//  English; other languages have their own.

const COUNT =
  '(?:\\p{N}[\\p{N}.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|forty|fifty|sixty|hundred|half|thirds?|fourths?|fifths?|quarters?|dozen|single|twice|first|second|third)';
const number = new RegExp(`(?<![\\p{L}\\p{N}])${COUNT}(?![\\p{L}])`, 'iu');
const measured = (units: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}])${COUNT}[\\s-]*(?:more |square |cubic )?(?:${units})(?![\\p{L}])`, 'iu');

const MONEY =
  /[€$£¥]|\p{N}\s*(?:%|percent\b)|\b(?:euros?|dollars?|pounds?|crowns?|francs?|yen|cents?|guilders?|free|nothing|half|unpaid|refunded|billed)\b/iu;
const LENGTH = measured(
  'm|cm|mm|km|met(?:er|re)s?|(?:centi|milli|kilo|nano)met(?:er|re)s?|inch(?:es)?|feet|foot|miles?|yards?|degrees?',
);
const WEIGHT = measured('g|kg|mg|t|(?:kilo|milli)?grams?|tons?|tonnes?|pounds?|ounces?');
const DURATION = new RegExp(
  `${measured('seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|terms?').source}|\\b(?:a|an|same|next|every|each|until|within|during|at once|immediately|always|daily|weekly|monthly|yearly) ?(?:second|minute|hour|day|week|month|year)?`,
  'iu',
);
const SPEED = new RegExp(
  `${measured('knots?|km/h|mph|(?:gigabits?|megabits?) ?(?:a|per)?').source}|\\b(?:an?|per) (?:second|minute|hour|day|week|month|year)\\b|${DURATION.source}`,
  'iu',
);
const TEMPERATURE = measured('°|°c|degrees?|kelvin');
const CLOCK =
  /\b\d{1,2}(?:[:.]\d{2})?\s*(?:o'clock|a\.?m\.?|p\.?m\.?|uhr)\b|\b\d{1,2}[:.]\d{2}\b|\b(?:noon|midnight)\b/i;
const YEAR = /\b1\d{3}\b|\b20\d{2}\b/;
const DATE =
  /\b(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|spring|summer|autumn|winter|easter|weekdays?|term|morning|evening|night|noon)\b/i;
const TIME = new RegExp(
  `${CLOCK.source}|${YEAR.source}|${DATE.source}|${DURATION.source}|\\b(?:before|after|until|since|as soon as|once|when)\\b`,
  'iu',
);
const PERSON =
  /\b(?:Mr|Mrs|Ms|Dr|Doctor|Brother|Sister|Professor)\.? ?\p{Lu}|(?<![\p{L}])\p{Lu}\p{Ll}+ (?:de |van |von |al-)?\p{Lu}\p{Ll}+|(?<=[\p{Ll}\p{N},;:)] )\p{Lu}\p{Ll}+|\b(?:police|member|owner|tenant|landlord|doctor|warden|caretaker|staff|everybody|leader)s?\b/u;
const NAME = /(?<=\S )["“'‘]?\p{Lu}[\p{L}\p{N}]*|["“‘][^"”’]+["”’]/u;
const PHONE = /(?:\+|\b0)\d[\d /-]{5,}\d/;
const PLACE = /\b(?:in|at|on|under|behind|beside|near|from|to|into|along|street|road|room|page|counter)\b/i;
const CAUSE =
  /\b(?:because|since|so that|so|otherwise|therefore|due|result|in order|prevents?|protects?|caused?|if|as|for|to)\b|:/i;

/** The first match applies. `how many NOUN` is handled separately. */
const STRICT: readonly (readonly [asked: RegExp, there: RegExp])[] = [
  [/\b(?:tele)?phone number|\bhotline\b|\b(?:call|ring)\b.*\bnumber\b/i, PHONE],
  [/\be-?mail\b/i, /\S@\S/],
  [/\bhow (?:old)\b|\bwhat age\b/i, DURATION],
  [/\bhow (?:heavy)\b|\bweigh/i, WEIGHT],
  [/\b(?:what|which) year\b|^when (?:was|were) .*\b(?:founded|built|born|made|established)\b/i, YEAR],
  [/\bwhat time\b|\bopening (?:times|hours)\b/i, CLOCK],
  [/\btemperature\b|\bdegrees\b|\bboiling\b/i, TEMPERATURE],
];

const LOOSE: readonly (readonly [asked: RegExp, there: RegExp])[] = [
  [
    /\bhow (?:much|expensive|cheap(?:ly)?)\b.*\b(?:cost|pay|paid|earn|charge|price|rent|fee)|\bhow (?:expensive|cheap(?:ly)?)\b|\bcosts?\b|\bprice\b|\b(?:fee|premium|rent|fare|salary|bonus|budget|rebate|discount)\b.*\?/i,
    MONEY,
  ],
  [
    /\bhow (?:tall|high|deep|wide|far)\b|\bdiameter\b|\b(?:height|width|depth|distance) of\b/i,
    new RegExp(`${LENGTH.source}|${MONEY.source}`, 'iu'),
  ],
  [/\bhow fast\b|\bspeed\b/i, SPEED],
  [
    /\bhow (?:long|soon|often|late)\b|\bhow (?:many|much) (?:seconds|minutes|hours|days|weeks|months|years|time)\b/i,
    DURATION,
  ],
  [/\bwhen\b|\b(?:what|which) (?:time|day|days|date|month|season)\b/i, TIME],
  [
    /\bhow (?:many|much|large|big|loud)\b|\b(?:what|which) (?:amount|sum|number|percentage|share|size|ratio)\b/i,
    number,
  ],
  [/\bwho(?:m|se)?\b/i, PERSON],
  [/\bcalled\b|\bname of\b|\bwhich (?:company|firm)\b/i, NAME],
  [/\bwhere\b/i, PLACE],
  [/\bwhy\b/i, CAUSE],
];

/** 1: the sentence holds the kind of thing that was asked for; -1: it does not; -2: it does not, and nothing else can be
 *  meant (an e-mail address, a year, a weight); 0: the question does not say. */
export function kindFits(question: string, sentence: string, language: Language | null = null): -2 | -1 | 0 | 1 {
  if (language) {
    const kind = language.kinds.find(([asked]) => asked.test(question));
    return kind ? (kind[1].test(sentence) ? 1 : -1) : 0;
  }
  const strict = STRICT.find(([asked]) => asked.test(question));
  if (strict) return strict[1].test(sentence) ? 1 : -2;
  const loose = LOOSE.find(([asked]) => asked.test(question));
  return loose ? (loose[1].test(sentence) ? 1 : -1) : 0;
}

/** The counted noun: "huts" in "how many huts"; null if none. */
export const countedThing = (question: string): string | null =>
  question.match(/\bhow many (?:of the |more )?(\p{L}+(?: \p{L}+){0,2})/iu)?.[1] ?? null;

/** Forms of questions that predict how often documents answer them; each yields 0 or 1. */
const FORMS: readonly RegExp[] = [
  /^(?:is|are|was|were|can|could|may|must|should|will|would|has|have|had|do|does|did|am)\b/i,
  /\bwhy\b/i,
  /\bwho(?:m|se)?\b/i,
  /^how (?!many|much|long|often|far|high|tall|deep|wide|large|big|old|fast|soon|late|heavy|loud|thick)/i,
  /\bhow (?:many|much)\b/i,
  /\bwhen\b|\bwhat time\b|year/i,
  /\bwhich\b/i,
  /\bwhere\b/i,
];
export const formOf = (question: string): number[] => FORMS.map((form) => (form.test(question) ? 1 : 0));
