import { expect, test } from 'vitest';
import type { Client, McpServer } from '../../../app/protocol/index.ts';
import { newFolder } from '../../support/core/core.ts';
import { bin, program, start, written } from './tool-servers.ts';

async function add(client: Client, name: string, args: string[], env: Record<string, string> = {}): Promise<McpServer> {
  const servers = await client.call('mcp.add', { servers: [program(name, args, env)] });
  const server = servers.find((one) => one.name === name);
  if (!server) throw new Error(`${name} was not added`);
  return server;
}
const fill = (client: Client, server: McpServer, name: string, given: Record<string, string> = {}) =>
  client.call('mcp.prompt', { serverId: server.id, name, given });

/** A server with these prompts, which answers prompts/get by `get`, an expression over `params` and `send`. */
const prompting = (prompts: string, get = `send(id, { messages: [] })`) =>
  written(
    newFolder(),
    `else if (method === 'prompts/list') send(id, ${prompts});
     else if (method === 'prompts/get') ${get};`,
    '',
    { tools: {}, prompts: {} },
  );

test('prompts of a published server: listed with their blanks, filled in, and refused in its own words', async () => {
  const { client } = await start([]);
  const server = await add(client, 'everything', [bin('server-everything')]);
  expect(server.prompts.map(({ name }) => name).sort()).toEqual([
    'args-prompt',
    'completable-prompt',
    'resource-prompt',
    'simple-prompt',
  ]);
  expect(server.prompts.find(({ name }) => name === 'args-prompt')).toEqual({
    name: 'args-prompt',
    title: 'Arguments Prompt',
    description: 'A prompt with two arguments, one required and one optional',
    arguments: [
      { name: 'city', description: 'Name of the city', required: true },
      { name: 'state', description: '', required: false },
    ],
    suggests: true,
  });
  expect(await fill(client, server, 'simple-prompt')).toEqual({
    messages: [{ role: 'user', text: 'This is a simple prompt without arguments.' }],
  });
  expect(await fill(client, server, 'args-prompt', { city: 'Genoa', state: 'Italy' })).toEqual({
    messages: [{ role: 'user', text: "What's weather in Genoa, Italy?" }],
  });
  const text = await fill(client, server, 'resource-prompt', { resourceType: 'Text', resourceId: '1' });
  expect(text).toMatchObject({ messages: [{}, { role: 'user', text: expect.stringMatching(/^Resource 1: /) }] });
  const blob = await fill(client, server, 'resource-prompt', { resourceType: 'Blob', resourceId: '1' });
  expect(blob).toMatchObject({ messages: [{}, { role: 'user', text: expect.stringMatching(/: left out\]$/) }] });
  expect(await fill(client, server, 'args-prompt')).toMatchObject({
    problem: 'failed',
    detail: expect.stringMatching(/city/),
  });
  expect(await fill(client, server, 'nothing')).toMatchObject({
    problem: 'failed',
    detail: expect.stringMatching(/nothing/),
  });
  expect((await client.call('mcp.servers'))[0]?.state).toEqual({ status: 'ready' });
});

test('what was listed is known without starting the server, which starts when a prompt is filled in', async () => {
  const { client: first, host, dataFolder } = await start([]);
  const args = prompting(
    `{ prompts: [{ name: 'p' }] }`,
    `send(id, { messages: [{ role: 'user', content: { type: 'text', text: 'Hello ' + params.arguments.who } }] })`,
  );
  await first.call('mcp.add', { servers: [program('one', args)] });
  await host.close();
  const { client: second } = await start([], dataFolder);
  const [server] = await second.call('mcp.servers');
  expect(server).toMatchObject({
    state: { status: 'idle' },
    prompts: [{ name: 'p', title: 'p', description: '', arguments: [], suggests: false }],
  });
  if (!server) return;
  expect(await fill(second, server, 'p', { who: 'Ada' })).toEqual({ messages: [{ role: 'user', text: 'Hello Ada' }] });
});

test('pages are read to their end; names that hide something, occur twice or are too many are left out, and logged', async () => {
  const { client } = await start([]);
  const many = `Array.from({ length: 21 }, (_, at) => ({ name: 'a' + at }))`;
  const args = prompting(
    `params?.cursor ? { prompts: [{ name: 'last' }] } : { nextCursor: 'more', prompts: [
      { name: 'first', title: 'In\\u202Evoice', description: 'Two\\nlines\\u2066', arguments: [{ name: 'x' }] },
      { name: 'hid\\u200Bden' }, { name: 'first' }, { name: 'many', arguments: ${many} },
      { name: 'twice', arguments: [{ name: 'x' }, { name: 'x' }] }, { name: 'blank', arguments: [{ name: ' ' }] },
      { name: 'n'.repeat(201) } ] }`,
  );
  const server = await add(client, 'pages', args);
  expect(server.prompts).toEqual([
    {
      name: 'first',
      title: 'Invoice',
      description: 'Two lines',
      arguments: [{ name: 'x', description: '', required: false }],
      suggests: false,
    },
    { name: 'last', title: 'last', description: '', arguments: [], suggests: false },
  ]);
  const log = await client.call('mcp.log', { serverId: server.id });
  expect(log.filter((line) => line.startsWith('[Longhand] a prompt was left out'))).toHaveLength(6);
});

test('a text shows all that it holds: nothing reversed, nothing hidden, no secret, no picture, and no more than fits', async () => {
  const { client } = await start([]);
  const said = (text: string) => `{ type: 'text', text: ${text} }`;
  const message = (role: string, content: string) => `{ role: '${role}', content: ${content} }`;
  const args = prompting(
    `{ prompts: [{ name: 'p' }] }`,
    `send(id, { messages: [
      ${message('user', said(`'one\\r\\n\\ttwo\\u202E\\u{E0041}\\u0000\\u200F'`))},
      ${message('assistant', said(`'key: ' + process.env.TOKEN`))},
      ${message('user', `{ type: 'image', data: 'AAAA', mimeType: 'image/png' }`)},
      ${message('user', said(`' \\u200B '`))},
      ${message('user', said(`'x'.repeat(300000)`))},
      ${message('user', said(`'beyond'`))} ] })`,
  );
  const server = await add(client, 'texts', args, { TOKEN: 'a-secret-token' });
  const answer = await fill(client, server, 'p');
  if (!('messages' in answer)) throw new Error(answer.detail);
  const { messages } = answer;
  expect(messages.slice(0, 3)).toEqual([
    { role: 'user', text: 'one\n\ttwo' },
    { role: 'assistant', text: 'key: ***' },
    { role: 'user', text: '[image/png, 1 KB: left out]' },
  ]);
  expect(messages).toHaveLength(4);
  expect(messages.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(200_000);
});

test('a server without prompts, or whose list fails, keeps its tools; one that ends says so', async () => {
  const { client } = await start([]);
  expect((await add(client, 'none', written(newFolder(), ''))).prompts).toEqual([]);
  const failing = written(
    newFolder(),
    `else if (method === 'prompts/list') process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }) + '\\n');`,
    '',
    { tools: {}, prompts: {} },
  );
  const server = await add(client, 'failing', failing);
  expect(server).toMatchObject({ state: { status: 'ready' }, tools: [{ title: 'go' }], prompts: [] });
  const ending = await add(client, 'ending', prompting(`{ prompts: [{ name: 'p' }] }`, 'process.exit(3)'));
  expect(await fill(client, ending, 'p')).toMatchObject({ problem: 'ended' });
  const odd = await add(client, 'odd', prompting(`{ prompts: [{ name: 'p' }] }`, `send(id, { messages: 'none' })`));
  expect(await fill(client, odd, 'p')).toHaveProperty('problem');
  await expect(fill(client, { ...odd, id: 'none' as McpServer['id'] }, 'p')).rejects.toMatchObject({
    code: 'not-found',
  });
});
