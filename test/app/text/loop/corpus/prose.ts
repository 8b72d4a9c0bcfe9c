import { expand, type Random, repeat } from './random.ts';

//  Plain text that goes somewhere: the way into a loop, and a negative of its own.

const people =
  'Ada Bo Cem Dana Eli Fay Gus Hana Ivo Jun Kai Lea Mona Nils Olga Pia Rui Sana Tom Uma Vera Wim Yara Zeno'.split(' ');
const places =
  'harbour|library|mill|orchard|station|bakery|school|bridge|market|garden|workshop|hillside|canal|archive|kitchen|attic|quarry|lighthouse|ferry|greenhouse'.split(
    '|',
  );
const things =
  'ledger|lantern|map|letter|bicycle|recipe|clock|camera|notebook|violin|kettle|ladder|compass|blanket|engine|telescope|suitcase|rope|painting|barometer|chessboard|saddle|trumpet|needle|candle'.split(
    '|',
  );
const qualities =
  'old|narrow|bright|quiet|heavy|broken|careful|cheap|distant|early|famous|gentle|hollow|long|modest|plain|rare|sharp|steady|warm|yellow|curious|damp|faded|loose'.split(
    '|',
  );
const verbs =
  'carried|found|repaired|sold|measured|hid|borrowed|painted|lost|wrapped|described|opened|weighed|copied|returned|cleaned|traded|buried|sketched|photographed|inherited|dismantled|polished|delivered'.split(
    '|',
  );
const reasons =
  'because the rain had come early|although nobody had asked for it|before the last boat left|while the others were asleep|so that the roof could be mended|since the price had fallen again|after the quarrel about the fence|until the lamp ran out of oil|as if it had always been there|unless the wind turned'.split(
    '|',
  );
const shapes = [
  '<who> <did> the <how> <what> in the <where>, <why>.',
  'In the <where> stood a <how> <what> that <who> had once <did>.',
  '<why2>, <who> went to the <where> and <did> a <what>.',
  'Nobody in the <where> remembered who had <did> the <what>, but <who> kept the <how> one.',
  'The <what> was <how>; the <what> beside it was <how> too, and <who> <did> both.',
  'What does a <where> need with a <how> <what>?',
  '"It is only a <what>," said <who>, and <did> it <why>.',
  'By the year <year>, the <where> had <count> of them.',
  '<who> and <who> met near the <where>: one <did> a <how> <what>, the other <did> nothing at all.',
  'From the <where> you could see the <where>, and on clear days the <how> <where> beyond.',
  'It took <count> days to learn how the <what> had been <did>.',
];

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export function sentence(random: Random): string {
  const slots = {
    who: () => random.pick(people),
    where: () => random.pick(places),
    what: () => random.pick(things),
    how: () => random.pick(qualities),
    did: () => random.pick(verbs),
    why: () => random.pick(reasons),
    why2: () => capital(random.pick(reasons)),
    year: () => String(random.between(1650, 2030)),
    count: () => String(random.between(2, 400)),
  };
  return expand(random.pick(shapes), random, slots);
}

export const name = (random: Random): string => random.pick(people);
export const place = (random: Random): string => random.pick(places);
export const thing = (random: Random): string => random.pick(things);
export const quality = (random: Random): string => random.pick(qualities);

export function paragraph(random: Random, sentences: number): string {
  return repeat(sentences, () => sentence(random)).join(' ');
}

export function prose(random: Random, sentences: number): string {
  const paragraphs: string[] = [];
  for (let left = sentences; left > 0; ) {
    const size = Math.min(left, random.between(2, 6));
    paragraphs.push(paragraph(random, size));
    left -= size;
  }
  return paragraphs.join('\n\n');
}
