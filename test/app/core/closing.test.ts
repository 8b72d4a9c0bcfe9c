import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { StartEngine } from '../../../app/engine/ipc-protocol.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { newFolder, next, readMessage, startCore } from '../../support/core/core.ts';
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

test('an answer that takes a while to stop is kept as far as it was shown, and as one that was stopped', async () => {
  const dataFolder = newFolder();
  const script = scriptedEngine(() => 'Once upon a time there was a fox. '.repeat(2000));
  const slowToStop: StartEngine = async (...given) => {
    const engine = await script.startEngine(...given);
    const send: typeof engine.pipe.send = (message) =>
      'cancel' in message ? void setTimeout(() => engine.pipe.send(message), 200) : engine.pipe.send(message);
    return { ...engine, pipe: { ...engine.pipe, send } };
  };
  const { host, client } = await startCore({ dataFolder, startEngine: slowToStop });
  let shown = '';
  client.on('turn', ({ event }) => {
    if (event.type === 'delta') shown += event.text;
  });
  const { id: chatId } = await client.call('chats.create', {});
  const writing = next(client, 'turn', ({ event }) => event.type === 'delta');
  const { messageId } = await client.call('turns.send', { chatId, text: 'Tell me a story.' });
  await writing;
  await host.close();
  const later = await startCore({ dataFolder, startEngine: script.startEngine });
  const kept = await readMessage(later.client, chatId, messageId);
  expect(kept.state).toEqual({ status: 'done', reason: 'cancelled' });
  expect(shown.length).toBeGreaterThan(0);
  expect(kept.text.startsWith(shown)).toBe(true);
});
