import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { statesBehind } from '../../../../app/conversion/recovery/one-layer.ts';
import { addon, golden } from '../../../support/addon.ts';
import { temporaryFolder } from '../../../support/models/formats.ts';
import { someTokens } from '../../../support/models/models.ts';

const base = join(golden, 'mha2mla/base');

test('a layer on its own computes what it computes in the model, window by window', async () => {
  const config = JSON.parse(readFileSync(join(base, 'config.json'), 'utf8'));
  const windows = [someTokens(20), someTokens(33).slice(20)];
  const model = await addon.load(base, { device: 'cpu' });
  const session = model.createSession({ path: 'exact' });
  const traced: Awaited<ReturnType<typeof session.trace>>[] = [];
  for (const window of windows) traced.push(await session.trace(window, { path: 'exact' }));
  const states = (name: string) =>
    Float32Array.from(traced.flatMap((window) => [...(window.find((one) => one.name === name)?.data ?? [])]));
  model.close();
  const source = await addon.openWeights(base);
  const tensors = new Map<string, { shape: readonly number[]; values: Float32Array }>();
  for (const { name, shape } of (await addon.inspect(base)).tensors) {
    const own = /^model\.layers\.1\.(.*)$/.exec(name)?.[1];
    if (own) tensors.set(own, { shape, values: await source.read(name) });
  }
  source.close();
  const folder = join(temporaryFolder(), 'layer');
  const behind = await statesBehind(
    {
      addon,
      folder,
      config,
      tensors,
      lengths: windows.map(({ length }) => length),
      signal: new AbortController().signal,
    },
    states('layer.0'),
  );
  const wanted = states('layer.1');
  expect(behind.length).toBe(wanted.length);
  for (const [i, one] of behind.entries()) expect(Math.abs(one - (wanted[i] ?? 0))).toBeLessThan(1e-5);
  expect(existsSync(folder)).toBe(false);
});
