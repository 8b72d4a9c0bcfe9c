import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Client, McpServer } from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { newFolder } from '../../support/core/core.ts';
import { bin, program, start, written } from './tool-servers.ts';

//  What a server suggests for the blanks of its prompts, and lists that change while it runs.

const only = ([server]: McpServer[]): McpServer => {
  if (!server) throw new Error('no server was added');
  return server;
};
const suggested = (client: Client, { id }: McpServer, argument: string, value: string, given = {}) =>
  client.call('mcp.complete', { serverId: id, name: 'completable-prompt', argument, value, given });

test('suggestions of a published server: by what is typed, and by what the other blanks hold', async () => {
  const { client } = await start([]);
  const server = only(await client.call('mcp.add', { servers: [program('everything', [bin('server-everything')])] }));
  expect(server.prompts.map(({ suggests }) => suggests)).toEqual([true, true, true, true]);
  expect(await suggested(client, server, 'department', '')).toEqual(['Engineering', 'Sales', 'Marketing', 'Support']);
  expect(await suggested(client, server, 'department', 'S')).toEqual(['Sales', 'Support']);
  expect(await suggested(client, server, 'department', 'Q')).toEqual([]);
  expect(await suggested(client, server, 'name', '')).toEqual([]);
  expect(await suggested(client, server, 'name', '', { department: 'Sales' })).toEqual(['David', 'Eve', 'Frank']);
  expect(await suggested(client, server, 'name', 'K', { department: 'Support' })).toEqual(['Kim']);
  // What it does not know is an error of the server, and no matter for who types.
  expect(await suggested(client, server, 'nothing', 'x')).toEqual([]);
  expect(
    await client.call('mcp.complete', { serverId: server.id, name: 'none', argument: 'a', value: '', given: {} }),
  ).toEqual([]);
  expect(only(await client.call('mcp.servers')).state).toEqual({ status: 'ready' });
  await expect(suggested(client, { ...server, id: 'none' as McpServer['id'] }, 'name', '')).rejects.toMatchObject({
    code: 'not-found',
  });
});

/** Has other tools and prompts once it was asked for the text of one. */
const changing = () =>
  written(
    newFolder(),
    `else if (method === 'prompts/get') {
       tools[0].name = 'stop';
       prompts = [{ name: 'later' }];
       send(id, { messages: [] });
       for (const kind of ['tools', 'prompts'])
         process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/' + kind + '/list_changed' }) + '\\n');
     }
     else if (method === 'prompts/list') send(id, { prompts });`,
    `let prompts = [{ name: 'now' }];`,
    { tools: { listChanged: true }, prompts: { listChanged: true } },
  );

test('a server that says its lists have changed is listed again, and the page is told; what is gone is gone', async () => {
  const { client } = await start([]);
  const server = only(await client.call('mcp.add', { servers: [program('changing', changing())] }));
  const heard: McpServer[] = [];
  client.on('mcp.changed', (servers) => heard.push(only(servers)));
  await client.call('mcp.prompt', { serverId: server.id, name: 'now', given: {} });
  await expect.poll(() => heard.length, { timeout: 5000 }).toBe(1);
  expect(heard).toMatchObject([{ tools: [{ title: 'stop' }], prompts: [{ name: 'later' }] }]);
  expect(await client.call('mcp.servers')).toEqual(heard);
  expect(heard[0]?.tools).toHaveLength(1);
});

test('a server whose prompts were never stored is listed when it runs for the first time', async () => {
  const { client: first, host, dataFolder } = await start([]);
  // It announces nothing.
  const args = written(
    newFolder(),
    `else if (method === 'prompts/list') send(id, { prompts: [{ name: 'p' }] });
     else if (method === 'prompts/get') send(id, { messages: [] });`,
    '',
    { tools: {}, prompts: {} },
  );
  await first.call('mcp.add', { servers: [program('old', args)] });
  await host.close();
  // As the migration leaves a server that was added before.
  const db = openDatabase(join(dataFolder, 'longhand.db'));
  db.run("UPDATE mcp_servers SET prompts = '[]'");
  db.close();
  const { client } = await start([], dataFolder);
  const before = only(await client.call('mcp.servers'));
  expect(before).toMatchObject({ state: { status: 'idle' }, prompts: [] });
  await client.call('mcp.prompt', { serverId: before.id, name: 'p', given: {} });
  const names = async () => only(await client.call('mcp.servers')).prompts.map(({ name }) => name);
  await expect.poll(names, { timeout: 10_000 }).toEqual(['p']);
});

test('a server that is started again begins when the one before has ended, and let go of what it held', async () => {
  const folder = newFolder();
  const lock = JSON.stringify(join(folder, 'lock'));
  const before = `import { mkdirSync, rmdirSync } from 'node:fs';
mkdirSync(${lock});
setInterval(() => {}, 1000);
process.on('SIGTERM', () => setTimeout(() => { rmdirSync(${lock}); process.exit(0); }, 200));`;
  const { client } = await start([]);
  const server = only(await client.call('mcp.add', { servers: [program('holds', written(folder, '', before))] }));
  expect(server.state).toEqual({ status: 'ready' });
  await client.call('mcp.restart', { serverId: server.id });
  expect(only(await client.call('mcp.servers')).state).toEqual({ status: 'ready' });
});

test('long names of tools are cut to what every model writes, and stay apart', async () => {
  const body = `if (method === 'tools/list') send(id, { tools: ['here', 'there'].map((end) =>
    ({ name: 'look_'.repeat(15) + end, inputSchema: { type: 'object', properties: {} } })) });`;
  const { client } = await start([]);
  const { tools } = only(await client.call('mcp.add', { servers: [program('far', written(newFolder(), body))] }));
  for (const { name } of tools) expect(name).toMatch(/^far_look_[\w-]{1,55}$/);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(2);
});

test('tools are taken as long as all they say fits, and none that says too much', async () => {
  const many = `tools.push(...Array.from({ length: 100 }, (_, at) => ({ ...tools[0], name: 'long' + at, description: 'a'.repeat(at === 7 ? 40_000 : 16_000) })));`;
  const { client } = await start(['So.']);
  const [server] = await client.call('mcp.add', {
    servers: [program('talker', written(newFolder(), '', `setImmediate(() => { ${many} });`))],
  });
  const titles = server?.tools.map(({ title }) => title) ?? [];
  expect(titles.slice(0, 9)).toEqual(['go', ...[0, 1, 2, 3, 4, 5, 6, 8].map((at) => `long${at}`)]);
  // A million characters: the tool that is left out counts, too.
  expect(titles.length).toBe(60);
}, 60_000);
