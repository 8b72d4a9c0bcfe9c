import { describe, expect, test } from 'vitest';
import { devices, nameOf, runMany } from './devices.ts';
import { type DeltaShape, deltaInputs } from './gated-delta-inputs.ts';
import { goldenJson, goldenTensors } from './golden.ts';
import { besides, largestDifference, sizes } from './numbers.ts';
import { chunks, type Outcome, parity } from './support.ts';
import { thresholds } from './thresholds.ts';

const shapes: DeltaShape[] = [
  { keyHeads: 3, valueHeads: 3, keyDim: 16, valueDim: 24, headMap: 'grouped' },
  { keyHeads: 2, valueHeads: 6, keyDim: 32, valueDim: 17, headMap: 'tiled' },
  { keyHeads: 1, valueHeads: 2, keyDim: 128, valueDim: 128, headMap: 'grouped' },
];

const outcome: Outcome = (device, args) => {
  const result = runMany(device, 'gatedDelta', args);
  return [result.floats('o'), result.floats('state'), result.floats('window')];
};

interface Case {
  name: string;
  T: number;
  Hk: number;
  Hv: number;
  Dk: number;
  Dv: number;
  initial_state: boolean;
}
const golden = goldenJson<{ cases: Case[]; tolerance: { max_abs: number } }>('ops/gated_delta_rule/expected.json');
const tensor = goldenTensors('ops/gated_delta_rule/expected.safetensors');
const peak = (x: Float32Array) => x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** The x > -1.27 with x sigmoid(x) = y, for |y| <= 0.1 or y = 1. */
function inverseSilu(y: number): number {
  let x = 2 * y;
  for (let i = 0; i < 40; i++) {
    const s = 1 / (1 + Math.exp(-x));
    x -= (x * s - y) / (s * (1 + x * (1 - s)));
  }
  return x;
}

// The golden operator starts behind convolution and SiLU and ends before the gated norm. Here it is reached through the whole
// op: taps that copy the token; values so small that SiLU can be undone (q and k are normalised with an eps scaled alike, v and
// the state are linear); a norm whose eps drowns the mean square.
function throughTheWholeOp(name: string, one: Case) {
  const get = (part: string) => tensor(`${name}.${part}`).data;
  const channels = 2 * one.Hk * one.Dk + one.Hv * one.Dv;
  const small = 0.1 / Math.max(peak(get('in.q')), peak(get('in.k')));
  const scale = 0.1 / peak(get('in.v'));
  const state = one.initial_state ? get('in.S0') : new Float32Array(one.Hv * one.Dk * one.Dv);
  const result = {
    rows: one.T,
    keyHeads: one.Hk,
    valueHeads: one.Hv,
    keyDim: one.Dk,
    valueDim: one.Dv,
    width: 4,
    p: besides(
      one.T,
      get('in.q').map((x) => inverseSilu(small * x)),
      get('in.k').map((x) => inverseSilu(small * x)),
      get('in.v').map((x) => inverseSilu(scale * x)),
      new Float32Array(one.T * one.Hv * one.Dv).fill(inverseSilu(1)),
      get('in.beta').map((x) => Math.log(x / (1 - x))),
      get('in.g').map((x) => Math.log(Math.expm1(-x))),
    ),
    conv: Float32Array.from({ length: channels * 4 }, (_, i) => (i % 4 === 3 ? 1 : 0)),
    decay: new Float32Array(one.Hv).fill(-1),
    dtBias: new Float32Array(one.Hv),
    norm: new Float32Array(one.Dv).fill(1e6),
    eps: 1e12,
    l2Eps: 1e-6 * small * small,
    window: new Float32Array(3 * channels),
    state: state.map((x) => x * scale),
  };
  return { args: result, scale };
}

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each(golden.cases.map((one) => [one.name, one] as const))('golden delta rule %s', (name, one) => {
    const { args, scale } = throughTheWholeOp(name, one);
    const result = runMany(device, 'gatedDelta', args);
    const unscaled = (part: string) => result.floats(part).map((x) => x / scale);
    expect(largestDifference(unscaled('o'), tensor(`${name}.out.o`).data)).toBeLessThan(golden.tolerance.max_abs);
    expect(largestDifference(unscaled('state'), tensor(`${name}.out.S`).data)).toBeLessThan(golden.tolerance.max_abs);
  });
});

// Heads whose width leaves every remainder.
for (const keyDim of [17, 34, 35]) {
  const shape: DeltaShape = { keyHeads: 1, valueHeads: 2, keyDim, valueDim: 19, headMap: 'grouped' };
  parity(`keys of ${keyDim}, 50 tokens`, outcome, () => deltaInputs(50, shape), thresholds.recurrence);
}

for (const shape of shapes) {
  const title = `heads ${shape.keyHeads}/${shape.valueHeads}, dims ${shape.keyDim}/${shape.valueDim}, ${shape.headMap}`;
  for (const rows of sizes)
    parity(`${title}, ${rows} tokens`, outcome, () => deltaInputs(rows, shape), thresholds.recurrence);
  chunks(title, outcome, () => deltaInputs(100, shape));
}
