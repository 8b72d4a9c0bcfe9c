import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { engineByFork } from '../../../app/engine/start.ts';
import type { EngineStatus, ModelId } from '../../../app/protocol/index.ts';
import { listen, newFolder, next, places, root, startCore } from '../../support/core.ts';

//  A load that somebody stops. The first load of this engine lasts until then.

const starter = 'starter' as ModelId;

async function start() {
  vi.stubEnv('LONGHAND_REAL_ADDON', places.addon);
  onTestFinished(() => void vi.unstubAllEnvs());
  const dataFolder = newFolder();
  const quiet = await startCore({ dataFolder });
  await quiet.client.call('settings.set', { warmStart: false });
  await quiet.host.close();
  const addon = join(root, 'test/support/slow-addon.cjs');
  const { client } = await startCore({
    dataFolder,
    startEngine: engineByFork(places.engine, { ...places, addon }),
  });
  const seen: EngineStatus[] = [];
  client.on('engine.status', (status) => seen.push(status));
  const loading = next(client, 'engine.status', (status) => status.at === 'loading' && status.done > 0);
  return { client, seen, loading };
}

test('a load is stopped, says how far it was, frees what it had, and the next one works', async () => {
  const { client, seen, loading } = await start();
  const load = client.call('models.load', { modelId: starter });
  const failed = expect(load).rejects.toMatchObject({ code: 'cancelled' });
  expect(await loading).toMatchObject({ modelId: starter, done: 3, total: 10 });
  await client.call('models.cancelLoad');
  await failed;
  expect(await client.call('engine.status')).toEqual({ at: 'idle' });
  expect(seen.map(({ at }) => at)).not.toContain('ready');
  await client.call('models.load', { modelId: starter });
  expect(await client.call('engine.status')).toMatchObject({ at: 'ready', modelId: starter });
});

test('a question that waits for the load ends as stopped, and the next one is answered', async () => {
  const { client, loading } = await start();
  const { end } = listen(client);
  const chat = await client.call('chats.create', { modelId: starter });
  await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 4, temperature: 0 } });
  const ask = async () => end((await client.call('turns.send', { chatId: chat.id, text: 'Hello!' })).turnId);
  const first = ask();
  await loading;
  await client.call('models.cancelLoad');
  expect(await first).toMatchObject({ type: 'finished', reason: 'cancelled' });
  expect(await ask()).toMatchObject({ type: 'finished', reason: 'length' });
});

test('stopping when nothing is loaded changes nothing', async () => {
  const { client } = await startCore();
  await client.call('models.load', { modelId: starter });
  await client.call('models.cancelLoad');
  expect(await client.call('engine.status')).toMatchObject({ at: 'ready' });
});
