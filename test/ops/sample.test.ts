import { describe, expect, test } from 'vitest';
import { type Arguments, devices, nameOf, reference, runMany } from './devices.ts';
import { goldenJson } from './golden.ts';
import { normal } from './numbers.ts';

interface Settings {
  temperature: number;
  top_k: number;
  top_p: number;
  min_p: number;
  repetition_penalty: number;
  presence_penalty: number;
  frequency_penalty: number;
  dry_multiplier: number;
}
interface Case {
  logits: string;
  history: string;
  settings: Settings;
  hf_order: { penalised_logits_changed: Record<string, number>; ids: number[]; probabilities: number[] };
}
const golden = goldenJson<{ logits: Record<string, number[]>; histories: Record<string, number[]>; cases: Case[] }>(
  'sampling/expected.json',
);

const draws = 4000;

function inputs({ logits, history, settings }: Case): Arguments {
  const counts = new Map<number, number>();
  for (const id of golden.histories[history] as number[]) counts.set(id, (counts.get(id) ?? 0) + 1);
  return {
    rows: 1,
    logits: Float32Array.from(golden.logits[logits] as number[]),
    draws,
    seed: 7,
    temperature: settings.temperature,
    topK: settings.top_k,
    topP: settings.top_p,
    minP: settings.min_p,
    repetitionPenalty: settings.repetition_penalty,
    presencePenalty: settings.presence_penalty,
    frequencyPenalty: settings.frequency_penalty,
    countIds: Int32Array.from(counts.keys()),
    counts: Int32Array.from(counts.values()),
  };
}

// DRY reaches this op as biases, computed by the engine from the text: its cases are the engine's.
const cases = golden.cases.map((one, i) => [i, one] as const).filter(([, one]) => one.settings.dry_multiplier === 0);

const word = (x: bigint) => x & 0xffff_ffff_ffff_ffffn;
function mix(x: bigint): bigint {
  let y = word(x + 0x9e3779b97f4a7c15n);
  y = word((y ^ (y >> 30n)) * 0xbf58476d1ce4e5b9n);
  y = word((y ^ (y >> 27n)) * 0x94d049bb133111ebn);
  return y ^ (y >> 31n);
}

/** The first index at which the running sum of weights is enough; -1 for none. */
function firstReaching(ids: number[], weight: (id: number) => number, enough: (reached: number) => boolean): number {
  let reached = 0;
  for (const [at, id] of ids.entries()) {
    reached += weight(id);
    if (enough(reached)) return at;
  }
  return -1;
}

type Filters = { temperature: number; topK: number; topP: number; minP: number };
/** top-k, top-p, min-p and the pick, on a vocabulary sorted by logit, then id. */
function bySorting(logits: Float32Array, { temperature, topK, topP, minP }: Filters, seed: bigint, position: bigint) {
  const scaled = logits.map((x) => x / Math.fround(temperature));
  const peak = scaled.reduce((most, x) => Math.max(most, x));
  const weight = (id: number) => Math.exp(Math.fround((scaled[id] as number) - peak));
  const sum = (ids: number[]) => ids.reduce((total, id) => total + weight(id), 0);
  let kept = [...scaled.keys()].sort((a, b) => (scaled[b] as number) - (scaled[a] as number) || a - b);
  if (topK > 0) kept = kept.slice(0, topK);
  if (topP < 1) {
    const enough = Math.fround(topP) * sum(kept.toSorted((a, b) => a - b));
    kept = kept.slice(0, firstReaching(kept, weight, (reached) => reached >= enough) + 1 || kept.length);
  }
  kept = kept.filter((id) => minP === 0 || weight(id) >= minP).sort((a, b) => a - b);
  const wanted = (Number(mix(mix(seed) ^ position) >> 11n) / 2 ** 53) * sum(kept);
  return kept.at(firstReaching(kept, weight, (reached) => reached > wanted));
}

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each(cases)('golden case %i: the kept tokens, as often as they should be', (_i, one) => {
    const drawn = new Map<number, number>();
    for (const id of runMany(device, 'sample', inputs(one)).ints('ids')) drawn.set(id, (drawn.get(id) ?? 0) + 1);
    const { ids, probabilities } = one.hf_order;
    for (const id of drawn.keys()) expect(ids).toContain(id);
    ids.forEach((id, i) => {
      const p = probabilities[i] as number;
      const deviation = Math.sqrt(draws * p * (1 - p));
      expect(Math.abs((drawn.get(id) ?? 0) - draws * p)).toBeLessThan(5 * deviation + 2);
    });
  });

  const logits = normal('logits', 1000, 3);
  const best = logits.indexOf(Math.max(...logits));

  test('temperature 0 takes the highest, of equals the lowest id', () => {
    const tied = Float32Array.from(logits);
    tied[best + 1] = tied[best] as number;
    expect([...runMany(device, 'sample', { rows: 1, logits: tied }).ints('ids')]).toEqual([best]);
  });

  test('a bias of minus infinity forbids; when it forbids all but one, that one comes', () => {
    const biasIds = Int32Array.from({ length: 1000 }, (_unused, i) => i).filter((i) => i !== 123);
    const args = { rows: 1, logits, biasIds, biases: new Float32Array(999).fill(-Infinity), temperature: 1, draws: 20 };
    expect(new Set(runMany(device, 'sample', args).ints('ids'))).toEqual(new Set([123]));
  });

  test('NaN is never chosen', () => {
    const broken = Float32Array.from(logits, (x, i) => (i === 5 ? x : Number.NaN));
    expect(
      new Set(runMany(device, 'sample', { rows: 1, logits: broken, temperature: 1, draws: 10 }).ints('ids')),
    ).toEqual(new Set([5]));
  });

  test('the same seed and position give the same token on every device; another seed gives others', () => {
    const args = { rows: 1, logits, temperature: 1, topP: 0.9, draws: 100, seed: 3 };
    const mine = runMany(device, 'sample', args).ints('ids');
    expect(mine).toEqual(runMany(reference, 'sample', args).ints('ids'));
    expect(mine).not.toEqual(runMany(device, 'sample', { ...args, seed: 4 }).ints('ids'));
  });

  // The filters as they are written down: the whole vocabulary sorted, prefixes cut off.
  const many = normal('many logits', 3000, 3).map((x) => Math.fround(Math.round(x * 8) / 8)); // full of ties
  test.each([
    { temperature: 0.7, topK: 20, topP: 0.95, minP: 0 },
    { temperature: 1, topK: 1, topP: 1, minP: 0 },
    { temperature: 1.3, topK: 700, topP: 0.5, minP: 0.01 },
    { temperature: 0.5, topK: 0, topP: 0.9, minP: 0 },
    { temperature: 4, topK: 0, topP: 0.999, minP: 0 },
    { temperature: 1, topK: 2999, topP: 1, minP: 0.2 },
    { temperature: 0.9, topK: 0, topP: 1, minP: 0 },
    { temperature: 0.01, topK: 5000, topP: 1e-9, minP: 0 },
    { temperature: 1, topK: 0, topP: 1, minP: 1 },
  ])('filters %o keep what sorting keeps, and the same tokens are drawn', (settings) => {
    const drawn = runMany(device, 'sample', { rows: 1, logits: many, draws: 40, seed: 11, ...settings }).ints('ids');
    expect([...drawn]).toEqual(Array.from({ length: 40 }, (_unused, at) => bySorting(many, settings, 11n, BigInt(at))));
  });

  test('of tokens that are all alike, the share is kept that is asked for: the first ones', () => {
    const level = new Float32Array(64).fill(1.5);
    for (const [topP, kept] of [
      [0.5, 32],
      [0.25, 16],
      [1 / 64, 1],
    ] as const) {
      const drawn = runMany(device, 'sample', { rows: 1, logits: level, draws: 400, seed: 5, temperature: 1, topP });
      expect(Math.max(...drawn.ints('ids'))).toBeLessThan(kept);
      expect(new Set(drawn.ints('ids')).size).toBeGreaterThan(0.8 * kept);
    }
  });

  test('tokens that stand just at a border between steps of 6 count once', () => {
    const level = Float32Array.from({ length: 601 }, (_unused, i) => (i === 0 ? 6 : i <= 300 ? 0 : -1));
    const settings = { temperature: 1, topK: 0, topP: 0.93, minP: 0 };
    const draws = 300;
    const drawn = runMany(device, 'sample', { rows: 1, logits: level, draws, seed: 11, ...settings }).ints('ids');
    const expected = Array.from({ length: draws }, (_unused, at) => bySorting(level, settings, 11n, BigInt(at)));
    expect([...drawn]).toEqual(expected);
    expect(Math.max(...drawn)).toBeGreaterThan(300);
  });

  // Lengths at which vectors of any width have a remainder, with nearly all of the weight on the last token.
  test.each([17, 31, 1001, 1023])('logprobs of %i tokens, the last of which dominates', (count) => {
    const some = normal('some', count);
    some[count - 1] = 9;
    const total = Math.log(some.reduce((sum, x) => sum + Math.exp(x), 0));
    const result = runMany(device, 'sample', { rows: 1, logits: some, temperature: 0, logprobs: 2 });
    expect(result.ints('topIds')[0]).toBe(count - 1);
    expect(result.floats('topLogprobs')[0]).toBeCloseTo(9 - total, 5);
    some[count - 1] = 3; // below others: it counts in the sum alone
    some[2] = 3.5;
    const sum = Math.log(some.reduce((all, x) => all + Math.exp(x), 0));
    expect(
      runMany(device, 'sample', { rows: 1, logits: some, temperature: 0, logprobs: 1 }).floats('topLogprobs')[0],
    ).toBeCloseTo(Math.max(...some) - sum, 5);
  });

  test('penalties and biases change the scores as they are written down', () => {
    const some = Float32Array.of(2, 1, 0, -1, 3, 0.5);
    const result = runMany(device, 'sample', {
      rows: 1,
      logits: some,
      temperature: 0,
      logprobs: 6,
      repetitionPenalty: 2,
      presencePenalty: 0.25,
      frequencyPenalty: 0.5,
      // Those that the vocabulary does not have change nothing.
      countIds: Int32Array.of(0, 3, 4, 50_000_000, -50_000_000),
      counts: Int32Array.of(3, 2, 1, 1, 1),
      biasIds: Int32Array.of(1, 4, 50_000_000, -50_000_000),
      biases: Float32Array.of(0.75, -1, 9, 9),
    });
    // Divided where it is above zero and multiplied below; once for having been there, and for each time.
    const scores = [2 / 2 - 0.25 - 1.5, 1.75, 0, -2 - 0.25 - 1, 3 / 2 - 0.25 - 0.5 - 1, 0.5];
    const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    const order = [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
    expect([...result.ints('topIds')]).toEqual(order);
    for (const [at, id] of order.entries())
      expect(result.floats('topLogprobs')[at]).toBeCloseTo((scores[id] ?? 0) - total, 5);
  });

  test('logprobs are those of the penalised distribution, before temperature and filters', () => {
    const result = runMany(device, 'sample', { rows: 1, logits, temperature: 0.3, topK: 5, logprobs: 4 });
    const total = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0));
    const order = [...logits.keys()].sort((a, b) => (logits[b] as number) - (logits[a] as number));
    expect([...result.ints('topIds')]).toEqual(order.slice(0, 4));
    result.floats('topLogprobs').forEach((value, i) => {
      expect(value).toBeCloseTo((logits[order[i] as number] as number) - total, 5);
    });
    expect(result.floats('logprobs')[0]).toBeCloseTo((logits[result.ints('ids')[0] as number] as number) - total, 4);
  });
});
