import { dice, one } from './dice.ts';

/** A sentence hidden in a long text, and the question that only it answers. */
export type Needle = { text: string; question: string; answer: string };

const PLACES = [
  'harbour',
  'library',
  'mill',
  'orchard',
  'museum',
  'bakery',
  'station',
  'theatre',
  'garden',
  'workshop',
];
const DEEDS = [
  'opens at nine',
  'was painted last spring',
  'stands beside the river',
  'has a new roof',
  'is quiet on Mondays',
  'sells bread and honey',
  'closes early in winter',
  'was built by two brothers',
  'has a small café',
  'lies behind the church',
];
const CITIES = ['Arden', 'Belmont', 'Corvale', 'Dunmore', 'Eastwick', 'Farrow', 'Glenhaven', 'Hartley'];

/** A text of about `length` tokens as `count` counts them, with the needle at `depth` (0: first, 1: last). */
export function needleIn(length: number, depth: number, seed: number, count: (text: string) => number): Needle {
  const roll = dice(seed);
  const city = one(CITIES, roll);
  const answer = String(10_000 + roll(90_000));
  const needle = `The access code of the archive in ${city} is ${answer}.`;
  const sentences: string[] = [];
  const sentence = () => `The ${one(PLACES, roll)} of ${one(CITIES, roll)} ${one(DEEDS, roll)}.`;
  for (let tokens = 0; tokens < length; ) {
    const more = Array.from({ length: 16 }, sentence);
    sentences.push(...more);
    tokens += count(` ${more.join(' ')}`);
  }
  sentences.splice(Math.round(depth * sentences.length), 0, needle);
  return {
    text: sentences.join(' '),
    question: `What is the access code of the archive in ${city}? Answer with the code only.`,
    answer,
  };
}
