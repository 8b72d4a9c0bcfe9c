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

  test('logprobs are those of the penalised distribution, before temperature and filters', () => {
    const result = runMany(device, 'sample', { rows: 1, logits, temperature: 0.3, topK: 5, logprobs: 4 });
    const total = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0));
    const order = [...logits.keys()].sort((a, b) => (logits[b] as number) - (logits[a] as number));
    expect([...result.ints('topIds')]).toEqual(order.slice(0, 4));
    result.floats('topLogprobs').forEach((value, i) => {
      expect(value).toBeCloseTo((logits[order[i] as number] as number) - total, 4);
    });
    expect(result.floats('logprobs')[0]).toBeCloseTo((logits[result.ints('ids')[0] as number] as number) - total, 4);
  });
});
