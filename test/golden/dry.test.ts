// DRY: the longest match of the end of the text with an earlier place, and the token that followed there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../support/addon.ts';

interface Settings {
  dry_multiplier: number;
  dry_base: number;
  dry_allowed_length: number;
  dry_breakers: number[];
}
interface Golden {
  histories: Record<string, number[]>;
  cases: { history: string; settings: Settings; hf_order: { dry_match_lengths: Record<string, number> } }[];
}
interface Dry {
  multiplier: number;
  base: number;
  allowedLength: number;
  window?: number;
  breakers: number[];
}

const { dryBiases } = addon.testing as unknown as {
  dryBiases(history: Int32Array, dry: Dry): { id: number; bias: number }[];
};
const { histories, cases } = JSON.parse(readFileSync(join(golden, 'sampling', 'expected.json'), 'utf8')) as Golden;
const dryCases = cases.filter(({ settings }) => settings.dry_multiplier > 0);

test.each(dryCases.map((one, i) => [i, one] as const))('golden case %i', (_i, { history, settings, hf_order }) => {
  const {
    dry_multiplier: multiplier,
    dry_base: base,
    dry_allowed_length: allowedLength,
    dry_breakers: breakers,
  } = settings;
  const got = dryBiases(Int32Array.from(histories[history] ?? []), { multiplier, base, allowedLength, breakers });
  const wanted = Object.entries(hf_order.dry_match_lengths)
    .filter(([, length]) => length >= allowedLength)
    .map(([id, length]) => ({ id: Number(id), bias: Math.fround(-multiplier * base ** (length - allowedLength)) }));
  expect(got.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
  for (const [i, { bias }] of wanted.entries()) expect(got[i]?.bias).toBeCloseTo(bias, 5);
});

/** By trying every earlier place. */
function slowly(history: number[], dry: Dry): Map<number, number> {
  const seen = dry.window === undefined ? history : history.slice(-dry.window);
  const longest = new Map<number, number>();
  for (let next = 1; next < seen.length; next++) {
    let length = 0;
    while (length < next) {
      const token = seen[seen.length - 1 - length];
      if (token === undefined || dry.breakers.includes(token) || token !== seen[next - 1 - length]) break;
      length++;
    }
    const token = seen[next] ?? -1;
    if (length < dry.allowedLength || dry.breakers.includes(token)) continue;
    longest.set(token, Math.max(longest.get(token) ?? 0, length));
  }
  return longest;
}

test('equals the search of every place on texts full of repetition', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 16) % below;
  };
  for (let round = 0; round < 300; round++) {
    const history = Array.from({ length: random(60) }, () => random(4));
    const dry: Dry = { multiplier: 1, base: 1.5, allowedLength: 1 + random(3), breakers: random(2) ? [random(4)] : [] };
    if (random(2)) dry.window = 1 + random(40);
    const got = new Map(dryBiases(Int32Array.from(history), dry).map(({ id, bias }) => [id, bias]));
    const wanted = slowly(history, dry);
    expect([...got.keys()].sort()).toEqual([...wanted.keys()].sort());
    for (const [id, length] of wanted) expect(got.get(id)).toBeCloseTo(-(1.5 ** (length - dry.allowedLength)), 4);
  }
});
