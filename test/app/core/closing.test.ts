import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openDatabase } from '../../../app/store/database/database.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { breakDisk } from '../../support/faulty-disk.ts';

//  One service cannot be closed or begun, and the disk takes nothing more: the others are closed all the same, and nothing holds
//  the data folder.

test('a service that fails to close keeps neither the engine nor the data folder', async () => {
  const dataFolder = newFolder();
  const { startEngine, living } = scriptedEngine(() => 'Yes.');
  const { host, client } = await startCore({
    dataFolder,
    startEngine,
    startServer: async ({ port }) => ({
      address: `http://127.0.0.1:${port}`,
      port,
      network: { status: 'off' },
      close: () => Promise.reject(new Error('the socket does not close')),
    }),
  });
  await client.call('settings.set', { serverOn: true });
  await expect.poll(async () => (await client.call('server.state')).phase).toBe('on');
  await vi.waitFor(() => expect(living()).toBe(1));
  const disk = breakDisk(join(dataFolder, 'longhand.db'), { at: 1, times: Number.POSITIVE_INFINITY });
  await host.close().catch(() => {});
  disk.lift();
  expect(living()).toBe(0);
  const again = await startCore({ dataFolder, startEngine });
  expect((await again.client.call('settings.get')).serverOn).toBe(true);
});

test('a core that a full disk stops while it begins leaves neither the engine nor the data folder held', async () => {
  const dataFolder = newFolder();
  const { startEngine, living } = scriptedEngine(() => 'Yes.');
  await (await startCore({ dataFolder, startEngine })).host.close();
  // Models that this package has and the one before had not are written down while the services begin.
  const path = join(dataFolder, 'longhand.db');
  const db = openDatabase(path);
  db.run('DELETE FROM models');
  db.close();
  let failures = 0;
  for (let at = 1; ; at++) {
    const disk = breakDisk(path, { at, times: Number.POSITIVE_INFINITY });
    const begun = await startCore({ dataFolder, startEngine }).catch(() => null);
    disk.lift();
    await begun?.host.close();
    expect(living()).toBe(0);
    if (begun) break;
    failures++;
  }
  expect(failures).toBeGreaterThan(1);
});
