import { code } from './code.ts';
import { csv, json, table } from './data.ts';
import type { Loop } from './loops.ts';
import { type Random, repeat, seeded } from './random.ts';

//  Loops in text that repeats by nature: a stretch of a program, some records or rows, a run of numbers, again and again.

const CHARACTERS = 16_000;

const numbers = (random: Random) =>
  repeat(
    30,
    () =>
      `${repeat(random.between(3, 14), () => (random.next() < 0.3 ? `${random.below(90)}.${random.below(999)}` : random.below(500))).join(random.pick([', ', ' ', '; ']))},`,
  ).join('\n');

const makers = [code, code, code, json, csv, table, numbers];

/** A text up to one of its lines, and from there some of them for ever. */
export function dataLoops(): Loop[] {
  return repeat(160, (index) => {
    const name = `data loop-${index}`;
    const random = seeded(name);
    const lines = random.pick(makers)(random).split('\n');
    const size = Math.min(random.pick([1, 1, 2, 3, 5, 8, 12]), lines.length - 2);
    const told = lines.map((_, at) => at).filter((at) => at > 0 && /\w{2}/.test(lines.slice(at, at + size).join('')));
    const at = Math.min(random.pick(told), lines.length - size);
    const cycle = `${lines.slice(at, at + size).join('\n')}\n`;
    return {
      name,
      kind: 'code and data',
      where: index % 2 ? ('thinking' as const) : ('answer' as const),
      lead: `${lines.slice(0, at).join('\n')}\n`,
      loop: cycle.repeat(Math.ceil(CHARACTERS / cycle.length)),
      cycle: cycle.length,
    };
  });
}
