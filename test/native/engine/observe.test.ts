import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import { formats } from '../../support/models/formats.ts';
import { someTokens } from '../../support/models/models.ts';

const folder = join(golden, 'mha2mla/base');
const layer = 'model.layers.0.';
const mean = (rows: number[][], of: (row: number[]) => number) =>
  rows.reduce((sum, row) => sum + of(row), 0) / rows.length;

test('what goes into a matrix is the normalised row, and pairs are those of its heads', async () => {
  const model = await addon.load(folder, { observe: { covarianceOf: 'k_proj.weight', pairsOf: 16 } });
  const session = model.createSession({ path: 'exact' });
  const tokens = someTokens(30);
  const embedding = (await session.trace(tokens)).find(({ name }) => name === 'embedding');
  const seen = (await model.observed()).find(({ names }) => names.includes(`${layer}self_attn.k_proj.weight`));
  model.close();
  expect(seen?.tokens).toBe(30);
  expect(seen?.names).toEqual(['q', 'k', 'v'].map((part) => `${layer}self_attn.${part}_proj.weight`));
  const gain = formats.dequantise(folder, `${layer}input_layernorm.weight`);
  const rows = Array.from({ length: 30 }, (_, t) => {
    const row = [...(embedding?.data.subarray(t * 64, (t + 1) * 64) ?? [])];
    const scale = 1 / Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / 64 + 1e-5);
    return row.map((value, i) => value * scale * (gain[i] ?? 0));
  });
  const close = (got: number | undefined, wanted: number) =>
    expect(Math.abs((got ?? 0) / wanted - 1)).toBeLessThan(1e-4);
  for (const i of [0, 7, 63])
    close(
      seen?.squares[i],
      mean(rows, (row) => (row[i] ?? 0) ** 2),
    );
  close(
    seen?.covariance[3 * 64 + 41],
    mean(rows, (row) => (row[3] ?? 0) * (row[41] ?? 0)),
  );
  const keys = formats.dequantise(folder, `${layer}self_attn.k_proj.weight`);
  const dot = (row: number[], at: number) => row.reduce((sum, value, i) => sum + value * (keys[at * 64 + i] ?? 0), 0);
  // Four query heads of 8 pairs stand before; the second key head begins at row 16.
  close(
    seen?.pairs[4 * 8 + 8 + 5],
    mean(rows, (row) => Math.hypot(dot(row, 16 + 5), dot(row, 16 + 5 + 8))),
  );
});

test.each([[3], [['k_proj.weight', 3]], [{}]])(
  'what names no matrix is refused, and ends nothing: %j',
  (covarianceOf) =>
    expect(async () => addon.load(folder, { observe: { covarianceOf: covarianceOf as never } })).rejects.toMatchObject({
      code: 'argument',
      message: '[load] observe.covarianceOf: expected a name or a list of names',
    }),
);

test('covariances of several matrices, one of which is asked for', async () => {
  const names = ['mlp.down_proj.weight', 'layers.1.self_attn.o_proj.weight'];
  const model = await addon.load(folder, { observe: { covarianceOf: names } });
  await model.createSession({ path: 'exact' }).logits(someTokens(70));
  const all = await model.observed();
  const [one, ...others] = await model.observed('model.layers.1.mlp.down_proj.weight');
  const nothing = await model.observed('model.layers.9.mlp.down_proj.weight');
  model.close();
  expect([others, nothing]).toEqual([[], []]);
  const asked = all.filter(({ names: own }) => own.some((name) => names.some((end) => name.endsWith(end))));
  expect(asked).toHaveLength(3);
  expect(all.filter(({ covariance }) => covariance.length > 0)).toEqual(asked);
  if (one === undefined) throw new Error('it was not seen');
  expect(asked).toContainEqual(one);
  const size = one.squares.length;
  expect(one.covariance).toHaveLength(size * size);
  for (let i = 0; i < size; i++) {
    const own = one.covariance[i * (size + 1)] ?? 0;
    expect(Math.abs(own - (one.squares[i] ?? 0))).toBeLessThan(1e-5 * own + 1e-12);
    for (let j = 0; j < size; j++) {
      expect(one.covariance[i * size + j]).toBe(one.covariance[j * size + i]);
      const bound = Math.sqrt(own * (one.squares[j] ?? 0));
      expect(Math.abs(one.covariance[i * size + j] ?? 0)).toBeLessThanOrEqual(1.0001 * bound + 1e-12);
    }
  }
});
