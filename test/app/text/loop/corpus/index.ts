import { code } from './code.ts';
import { chess, csv, drawing, encoded, hexdump, json, list, table } from './data.ts';
import { installed } from './installed.ts';
import { type Loop, loops } from './loops.ts';
import { prose } from './prose.ts';
import { hash, type Random, repeat, seeded } from './random.ts';
import { countdown, cumulative, legal, quoting, song, translation } from './verse.ts';
import { arithmetic, plan, problems, reasoning, search, timesTable } from './working.ts';

//  Half of the corpus, chosen by the hash of a name, is the hold-out: it is only reported on. Levels are set on the other half.

export type Split = 'tuning' | 'hold-out';
export const split = (name: string): Split => ((hash(`split ${name}`) >>> 15) % 2 === 0 ? 'tuning' : 'hold-out');

export type Sound = { readonly name: string; readonly kind: string; readonly text: string };
export type { Loop };

const makers: Record<string, { count: number; make: (random: Random) => string }> = {
  prose: { count: 24, make: (random) => prose(random, 120) },
  code: { count: 90, make: code },
  json: { count: 20, make: json },
  csv: { count: 20, make: csv },
  tables: { count: 20, make: table },
  lists: { count: 24, make: list },
  'times tables': { count: 24, make: timesTable },
  'poems and refrains': { count: 30, make: song },
  'cumulative songs': { count: 12, make: cumulative },
  'counting songs': { count: 12, make: countdown },
  'legal text': { count: 24, make: legal },
  'base64 and hex': { count: 20, make: (random) => (random.next() < 0.5 ? encoded(random) : hexdump(random)) },
  chess: { count: 12, make: chess },
  drawings: { count: 24, make: drawing },
  'quoted text': { count: 24, make: quoting },
  translations: { count: 20, make: translation },
  arithmetic: { count: 30, make: arithmetic },
  searches: { count: 20, make: search },
  'word problems': { count: 16, make: problems },
  reasoning: { count: 40, make: reasoning },
  plans: { count: 16, make: plan },
};

/** Text that repeats itself as it should. */
export function sound(): Sound[] {
  return Object.entries(makers).flatMap(([kind, { count, make }]) =>
    repeat(count, (index) => {
      const name = `${kind}-${index}`;
      return { name, kind, text: make(seeded(`sound ${name}`)) };
    }),
  );
}

export { installed, loops };
