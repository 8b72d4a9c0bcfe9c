import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { EngineStatus, ModelId, TurnId } from '../../../app/protocol/index.ts';
import { listen, newFolder, next, places, root, startCore } from '../../support/core/core.ts';

//  A load that somebody stops. The first load of this engine lasts until then.

const starter = 'starter' as ModelId;

async function start() {
  vi.stubEnv('LONGHAND_REAL_ADDON', places.addon);
  onTestFinished(() => void vi.unstubAllEnvs());
  const dataFolder = newFolder();
  const quiet = await startCore({ dataFolder });
  await quiet.client.call('settings.set', { loadOnStart: false });
  await quiet.host.close();
  const addon = join(root, 'test/support/processes/slow-addon.cjs');
  const { client } = await startCore({
    dataFolder,
    startEngine: engineByFork(places.engine, { ...places, addon }),
  });
  const seen: EngineStatus[] = [];
  client.on('engine.status', (status) => seen.push(status));
  const loading = next(client, 'engine.status', (status) => status.phase === 'loading' && status.done > 0);
  return { client, seen, loading };
}

test('a load is stopped, says how far it was, frees what it had, and the next one works', async () => {
  const { client, seen, loading } = await start();
  const load = client.call('models.load', { modelId: starter });
  const failed = expect(load).rejects.toMatchObject({ code: 'cancelled' });
  expect(await loading).toMatchObject({ modelId: starter, done: 3, total: 10 });
  await client.call('models.cancelLoad');
  await failed;
  expect(await client.call('engine.status')).toEqual({ phase: 'idle' });
  expect(seen.map(({ phase }) => phase)).not.toContain('ready');
  await client.call('models.load', { modelId: starter });
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', modelId: starter });
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
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready' });
});

test('a question that is stopped while it waits behind another loads no model for it', async () => {
  const { client, seen, loading } = await start();
  const { end } = listen(client);
  const other = await client.call('models.duplicate', { modelId: starter, name: 'Other' });
  const first = await client.call('chats.create', { modelId: starter });
  const second = await client.call('chats.create', { modelId: other.id });
  const waiting = await client.call('turns.send', { chatId: first.id, text: 'Hello!' });
  await loading;
  const behind = await client.call('turns.send', { chatId: second.id, text: 'Hello!' });
  await client.call('turns.cancel', { turnId: behind.turnId as TurnId });
  expect(await end(behind.turnId)).toMatchObject({ type: 'finished', reason: 'cancelled' });
  await client.call('models.cancelLoad');
  expect(await end(waiting.turnId)).toMatchObject({ type: 'finished', reason: 'cancelled' });
  // Whatever waited in the engine before this has had its turn.
  await client.call('models.unload');
  expect(seen.filter((status) => status.phase === 'loading' && status.modelId === other.id)).toEqual([]);
});

test('another model that is wanted ends the load of the first', async () => {
  const { client, loading } = await start();
  const other = await client.call('models.duplicate', { modelId: starter, name: 'Other' });
  const load = client.call('models.load', { modelId: starter });
  const failed = expect(load).rejects.toMatchObject({ code: 'cancelled' });
  await loading;
  await client.call('models.load', { modelId: other.id });
  await failed;
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', modelId: other.id });
});
