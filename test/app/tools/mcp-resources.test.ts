import { expect, test } from 'vitest';
import { newFolder } from '../../support/core/core.ts';
import { ask, bin, call, decide, program, start, written } from './tool-servers.ts';

test('what a server has to read is listed and read by two tools, which are allowed like the others', async () => {
  const uri = 'demo://resource/dynamic/text/1';
  const { client, heard } = await start([
    call('all_list_resources', {}),
    call('all_read_resource', { uri }),
    call('all_read_resource', { uri: 'demo://nowhere' }),
    call('all_read_resource', {}),
    'Read.',
  ]);
  const servers = await client.call('mcp.add', { servers: [program('all', [bin('server-everything')])] });
  expect(
    servers[0]?.tools.filter(({ title }) => title.endsWith('_resource') || title === 'list_resources'),
  ).toMatchObject([
    { title: 'list_resources', kind: 'reads', always: false },
    { title: 'read_resource', kind: 'reads', always: false },
  ]);
  const asked = decide(client, ['chat', 'chat']);
  const { end } = await ask(client, heard, servers);
  const [list, read, nowhere, without] = (await end()).toolUses;
  expect(asked).toEqual(['all_list_resources', 'all_read_resource']);
  expect(list?.result).toContain('- demo://resource/dynamic/text/{resourceId}: ');
  expect(read).toMatchObject({ state: { status: 'done' }, result: expect.stringMatching(/resource/i) });
  expect(nowhere).toMatchObject({ state: { status: 'failed' }, result: expect.stringContaining('demo://nowhere') });
  expect(without).toMatchObject({
    state: { problem: 'arguments' },
    result: 'Error: "uri" is missing; a text is needed',
  });
});

test('pages of a list are read to their end; a server without resources has no such tools, and its own of that name stays', async () => {
  const body = `else if (method === 'resources/list') send(id, params?.cursor ? { resources: [{ uri: 'note://2', name: 'Two' }] } : { resources: [{ uri: 'note://1', name: 'One', description: 'the first' }], nextCursor: 'more' });
  else if (method === 'resources/templates/list') process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }) + '\\n');`;
  const folder = newFolder();
  const plain = written(folder, '');
  const notes = written(folder, body, '', { tools: {}, resources: {} });
  const own = written(folder, '', `setImmediate(() => { tools[0].name = 'read_resource'; });`, {
    tools: {},
    resources: {},
  });
  const { client, heard } = await start([call('notes_list_resources', {}), 'So.']);
  const servers = await client.call('mcp.add', {
    servers: [program('plain', plain), program('notes', notes), program('own', own)],
  });
  expect(servers.map(({ tools }) => tools.map(({ title }) => title))).toEqual([
    ['go'],
    ['go', 'list_resources', 'read_resource'],
    ['read_resource', 'list_resources'],
  ]);
  decide(client, ['once']);
  const { end } = await ask(client, heard, servers);
  expect((await end()).toolUses[0]?.result).toBe('- note://1: One (the first)\n- note://2: Two');
});

/** Lines that a model gets of a server whose pages of resources, of `each` entries, never end. */
async function listedOf(each: number): Promise<string[]> {
  const body = `else if (method === 'resources/list') { const page = Number(params?.cursor ?? 0); send(id, { resources: Array.from({ length: ${each} }, (_, i) => ({ uri: 'note://' + (${each} * page + i), name: 'Entry' })), nextCursor: String(page + 1) }); }
  else if (method === 'resources/templates/list') send(id, { resourceTemplates: [] });`;
  const endless = written(newFolder(), body, '', { tools: {}, resources: {} });
  const { client, heard } = await start([call('endless_list_resources', {}), 'So.']);
  const servers = await client.call('mcp.add', { servers: [program('endless', endless)] });
  decide(client, ['once']);
  const { end } = await ask(client, heard, servers);
  return (await end()).toolUses[0]?.result?.split('\n') ?? [];
}

test('a list that never ends, page after page, is read for five pages, or five hundred entries', async () => {
  expect(await listedOf(1)).toEqual([0, 1, 2, 3, 4].map((entry) => `- note://${entry}: Entry`));
  const many = await listedOf(300);
  expect([many.length, many.at(-1)]).toEqual([500, '- note://499: Entry']);
}, 60_000);
