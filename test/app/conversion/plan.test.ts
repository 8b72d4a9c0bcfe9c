// Which tensors become smaller, under which names, and what they take then.
import { describe, expect, test } from 'vitest';
import {
  checkForm,
  isMatrix,
  type Planned,
  plannedBytes,
  planOf,
  quantisedIn,
  sizeOf,
  storedType,
} from '../../../app/conversion/plan.ts';
import { rowsFor } from '../../../app/conversion/stretches.ts';
import type { TensorEntry } from '../../../native/addon/index.d.ts';

const tensor = (name: string, shape: number[], type = 'BF16') => ({ name, shape, type }) as TensorEntry;
const told = (plan: readonly Planned[]) =>
  plan.map(({ name, shape, bits, within, plus, refused }) =>
    [
      name,
      shape.join('×'),
      bits ?? 'kept',
      within && `${within.name} ${within.shape.join('×')} from ${within.first}`,
      plus && `+${plus}`,
      refused && 'refused',
    ]
      .filter(Boolean)
      .join(', '),
  );

test.each([
  ['F32', 'F32', false],
  ['F16', 'F16', false],
  ['BF16', 'BF16', false],
  ['Q4_K', 'F16', true],
  ['AFFINE', 'F16', true],
  ['I32', null, false],
  ['U8', null, false],
  ['BOOL', null, false],
  ['F64', null, false],
])('scales and what stays of %s are stored as %s', (type, stored, quantised) => {
  const entry = tensor('a', [1], type);
  expect(storedType(entry)).toBe(stored);
  expect(quantisedIn([entry]).length > 0).toBe(quantised);
});

test.each([
  ['model.layers.0.mlp.up_proj.weight', [8, 64], true],
  ['model.layers.0.mlp.up_proj.bias', [8, 64], false],
  ['model.layers.0.mlp.up_proj.weight', [8], false],
  ['model.layers.0.mlp.experts.gate_up_proj', [2, 8, 64], true],
  ['model.layers.0.mlp.switch_mlp.down_proj.weight', [2, 8, 64], true],
  ['model.layers.0.mlp.stack.weight', [2, 8, 64], false],
  ['model.layers.0.mlp.gate.weight', [8, 64], false],
  ['model.layers.0.mlp.gate_proj.weight', [8, 64], true],
  ['model.layers.0.linear_attn.conv1d.weight', [8, 64], false],
  ['model.visual.blocks.0.weight', [8, 64], false],
])('%s %j is a matrix: %s', (name, shape, is) => {
  expect(isMatrix(tensor(name, shape))).toBe(is);
});

test('matrices whose rows are whole groups get the bits; others, and what is no matrix, stay', () => {
  const plan = planOf(
    [
      tensor('a.weight', [4, 64]),
      tensor('b.weight', [4, 48]),
      tensor('model.norm.weight', [64]),
      tensor('c.bias', [4]),
    ],
    4,
    32,
  );
  expect(told(plan)).toEqual([
    'a.weight, 4×64, 4',
    'b.weight, 4×48, kept',
    'model.norm.weight, 64, kept',
    'c.bias, 4, kept',
  ]);
  // Codes, and a scale and a bias a group, of two bytes each; and what stays, at two bytes a value.
  expect(plan.map((planned) => plannedBytes(planned, 32))).toEqual([128 + 8 * 4, 4 * 48 * 2, 128, 8]);
  expect(sizeOf(plan, 32)).toBe(160 + 384 + 128 + 8);
});

describe('experts', () => {
  const mlp = 'model.layers.0.mlp';
  test('that stand one by one become parts of a stack, in their order, if none is missing', () => {
    const expert = (at: number, leaf = 'up_proj') => tensor(`${mlp}.experts.${at}.${leaf}.weight`, [4, 64]);
    expect(told(planOf([expert(1), expert(0)], 4, 32))).toEqual([
      `${mlp}.experts.1.up_proj.weight, 4×64, 4, ${mlp}.switch_mlp.up_proj.weight 2×4×64 from 4`,
      `${mlp}.experts.0.up_proj.weight, 4×64, 4, ${mlp}.switch_mlp.up_proj.weight 2×4×64 from 0`,
    ]);
    expect(told(planOf([expert(0, 'w2'), expert(1, 'w2')], 4, 32))[1]).toBe(
      `${mlp}.experts.1.w2.weight, 4×64, 4, ${mlp}.switch_mlp.down_proj.weight 2×4×64 from 4`,
    );
    expect(told(planOf([expert(0), expert(2)], 4, 32))).toEqual([
      `${mlp}.experts.0.up_proj.weight, 4×64, 4`,
      `${mlp}.experts.2.up_proj.weight, 4×64, 4`,
    ]);
    const dense = tensor('model.layers.1.feed_forward.w1.weight', [4, 64]);
    expect(told(planOf([expert(0), dense], 4, 32))[1]).toBe('model.layers.1.feed_forward.gate_proj.weight, 4×64, 4');
    expect(told(planOf([dense], 4, 32))).toEqual(['model.layers.1.feed_forward.w1.weight, 4×64, 4']);
  });

  test('that are one tensor are split into gate and up, each with the rows that are its own', () => {
    const [gate, up] = planOf([tensor(`${mlp}.experts.gate_up_proj`, [2, 6, 64])], 4, 32) as [Planned, Planned];
    expect(told([gate, up])).toEqual([
      `${mlp}.switch_mlp.gate_proj.weight, 2×3×64, 4`,
      `${mlp}.switch_mlp.up_proj.weight, 2×3×64, 4`,
    ]);
    const rows = { first: 0, count: 6 };
    expect([...(rowsFor(gate, rows).rows ?? [])]).toEqual([0, 1, 2, 6, 7, 8]);
    expect([...(rowsFor(up, rows).rows ?? [])]).toEqual([3, 4, 5, 9, 10, 11]);
    expect([...(rowsFor(up, { first: 2, count: 2 }).rows ?? [])]).toEqual([5, 9]);
    const [down] = planOf([tensor(`${mlp}.experts.down_proj`, [2, 6, 64])], 4, 32) as [Planned];
    expect(told([down])).toEqual([`${mlp}.switch_mlp.down_proj.weight, 2×6×64, 4`]);
    expect(rowsFor(down, rows)).toEqual(rows);
  });

  test('of Qwen3-Next: channels last, one added to its norms, and no head that drafts', () => {
    const layer = 'model.layers.0';
    const plan = planOf(
      [
        tensor(`${layer}.linear_attn.in_proj_qkvz.weight`, [4, 64]),
        ...[0, 1].map((at) => tensor(`${layer}.mlp.experts.${at}.up_proj.weight`, [4, 64])),
        tensor(`${layer}.linear_attn.conv1d.weight`, [8, 1, 4]),
        tensor(`${layer}.input_layernorm.weight`, [64]),
        tensor(`${layer}.linear_attn.norm.weight`, [64]),
        tensor('mtp.fc.weight', [4, 64]),
      ],
      4,
      32,
    );
    expect(told(plan).filter((line) => !line.includes('experts'))).toEqual([
      `${layer}.linear_attn.in_proj_qkvz.weight, 4×64, 4`,
      `${layer}.linear_attn.conv1d.weight, 8×1×4, kept, ${layer}.linear_attn.conv1d.weight 8×4×1 from 0`,
      `${layer}.input_layernorm.weight, 64, kept, +1`,
      `${layer}.linear_attn.norm.weight, 64, kept`,
      'mtp.fc.weight, 4×64, 4, refused',
    ]);
  });
});

test('bits and groups that no program reads are refused with those that are', () => {
  for (const bits of [2, 3, 4, 5, 6, 8]) expect(() => checkForm(bits, 64)).not.toThrow();
  expect(() => checkForm(7, 64)).toThrow(/^\[--bits\] got 7, expected one of 2, 3, 4, 5, 6, 8$/);
  expect(() => checkForm(4, 48)).toThrow(/^\[--group\] got 48, expected one of 32, 64, 128$/);
});
