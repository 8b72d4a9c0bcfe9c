import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Client, failureOf } from '../../../app/protocol/index.ts';
import { connect, newFolder } from '../../support/core/core.ts';
import { startScripted } from '../../support/core/scripted-core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { breakDisk, type Fault } from '../../support/faulty-disk.ts';
import { collectUncaught } from '../../support/full-disk.ts';
import { starter } from '../../support/models/models.ts';

//  The disk is full at the n-th write of what is stored of models, settings, keys and tool servers, for every n. What is refused is
//  refused with `disk-full`, nothing is thrown where nobody catches it, what a page was told is there after the next start, and
//  the files of a model are never away while it is listed.

const unhandled = collectUncaught();

const start = (dataFolder: string) => startScripted(dataFolder, scriptedEngine(() => 'Yes.').startEngine);

/** Each wish tried on, whatever came of the one before. */
async function work(client: Client, folder: string): Promise<unknown[]> {
  const refusals: unknown[] = [];
  const tried = <T>(wish: Promise<T>): Promise<T | null> =>
    wish.catch((error) => {
      refusals.push(error);
      return null;
    });
  const model = await tried(client.call('models.import', { path: folder }));
  if (model) {
    const { id: modelId, settings } = model;
    await tried(client.call('models.configure', { modelId, settings: { ...settings, contextLength: 1024 } }));
    await tried(client.call('models.duplicate', { modelId, name: 'Twin' }));
    await tried(client.call('models.remove', { modelId }));
    await tried(client.call('models.restore', { modelId }));
    await tried(client.call('settings.set', { defaultModelId: modelId }));
  }
  const made = await tried(client.call('server.addKey', { name: 'Editor' }));
  await tried(client.call('server.addKey', { name: 'Script' }));
  if (made) await tried(client.call('server.revokeKey', { id: made.added.id }));
  const config = { command: join(folder, 'nothing-here'), args: [], env: {} };
  const [server] = (await tried(client.call('mcp.add', { servers: [{ name: 'absent', config }] }))) ?? [];
  if (server) await tried(client.call('mcp.remove', { serverId: server.id }));
  await tried(client.call('privacy.reportBlocked', { address: 'https://example.org/x' }));
  return refusals;
}

type State = Awaited<ReturnType<typeof stateOf>>;

async function stateOf(client: Client) {
  const models = await client.call('models.list');
  return {
    models: models.map(({ name, missing, settings }) => ({ name, missing, settings })),
    keys: (await client.call('server.keys')).map(({ name }) => name),
    servers: (await client.call('mcp.servers')).map(({ name }) => name),
    settings: await client.call('settings.get'),
  };
}

async function run(fault: Fault): Promise<number> {
  const dataFolder = newFolder();
  const folder = join(newFolder(), 'mine');
  cpSync(starter, folder, { recursive: true });
  const where = `write ${fault.at}, ${fault.times} times`;
  const host = await start(dataFolder);
  const client = connect(host);
  const disk = breakDisk(join(dataFolder, 'longhand.db'), fault);
  const refusals = await work(client, folder);
  for (const refusal of refusals) expect(failureOf(refusal).code, where).toMatch(/^(disk-full|not-found|conflict)$/);
  const seen = disk.seen();
  disk.lift();
  const told: State = await stateOf(client);
  expect(
    told.models.filter(({ missing }) => missing),
    where,
  ).toEqual([]);
  await host.close();
  const again = await start(dataFolder);
  expect(await stateOf(connect(again)), where).toEqual(told);
  await again.close();
  return seen;
}

test('models, settings, keys and tool servers, for each write that fails alone, and from every third on', {
  timeout: 120_000,
}, async () => {
  const writes = await run({ at: Number.POSITIVE_INFINITY, times: 0 });
  console.log(`writes: ${writes}`);
  expect(writes).toBeGreaterThan(12);
  const faults = Array.from({ length: writes }, (_, at): Fault[] => [
    { at: at + 1, times: 1 },
    ...(at % 3 === 0 ? [{ at: at + 1, times: Number.POSITIVE_INFINITY }] : []),
  ]).flat();
  const worker = async () => {
    for (let fault = faults.shift(); fault; fault = faults.shift()) await run(fault);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  expect(unhandled).toEqual([]);
});
