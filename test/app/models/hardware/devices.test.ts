import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { engineByFork } from '../../../../app/engine/client/fork-engine.ts';
import type { StartEngine } from '../../../../app/engine/ipc-protocol.ts';
import { places, root, startCore } from '../../../support/core/core.ts';

test('an engine that dies before it has said what it runs on: the next one is asked, so that limits are those of the card', async () => {
  const start = engineByFork(places.engine, { ...places, addon: join(root, 'test/support/processes/gpu-addon.cjs') });
  let starts = 0;
  const startEngine: StartEngine = async () => {
    const engine = await start();
    if (++starts === 1) engine.kill();
    return engine;
  };
  const { client } = await startCore({ startEngine });
  const told: number[] = [];
  client.on('machine.changed', ({ limitBytes }) => told.push(limitBytes));
  await client.call('settings.set', { device: 'vulkan:7', loadOnStart: false });
  const limit = async () => (await client.call('models.machine')).limitBytes;
  await expect.poll(limit, { timeout: 20_000 }).toBe(3e9);
  expect(starts).toBeGreaterThan(1);
  await vi.waitFor(() => expect(told.at(-1)).toBe(3e9), { timeout: 20_000 });
});
