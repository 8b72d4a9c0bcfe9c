// Check mode also watches kernels that were compiled before it was switched on: a back end keeps its pipelines.
import { afterEach, expect, test, vi } from 'vitest';
import { run } from '../../ops/devices.ts';
import { normal } from '../../ops/numbers.ts';
import { f32 } from '../../ops/weights.ts';
import { needsStandin, standin } from '../standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });
afterEach(() => standin.options({}));

test('a pipeline that exists is watched from the next pass on', () => {
  const metal = { backEnd: 'metal', instructions: '', threads: 1, path: 'exact' } as const;
  const once = () => run(metal, 'linear', { rows: 1, x: normal('x', 64), weight: [f32(normal('w', 64 * 5), 5, 64)] });
  const plain = once();
  standin.options({ check: true });
  standin.reset();
  expect(once()).toEqual(plain);
  // The same memory is counted whether or not the kernel was new; without the hooks it would be none.
  expect(standin.counters().bytes.weights?.read).toBe(4 * 64 * 5);
});
