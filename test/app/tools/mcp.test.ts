import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AttachmentId, McpServerId } from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { newFolder, next, readMessage } from '../../support/core/core.ts';
import { ask, bin, call, decide, program, start, written } from './tool-servers.ts';

//  Real servers of tools, and ones that behave badly.

test('servers as others ship them: files and memory, with what is allowed once, for the chat, always and not at all', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'notes'));
  writeFileSync(join(folder, 'notes/rent.txt'), 'The rent is 840 euros.');
  const read = call('files_read_text_file', { path: join(folder, 'notes/rent.txt') });
  const list = call('files_list_directory', { path: join(folder, 'notes') });
  const write = call('files_write_file', { path: join(folder, 'notes/new.txt'), content: 'kept' });
  const remember = call('memory_create_entities', {
    entities: [{ name: 'rent', entityType: 'fact', observations: ['840 euros'] }],
  });
  const { client, heard } = await start([
    read,
    list,
    write,
    remember,
    call('files_read_text_file', { path: '/etc/passwd' }),
    'So.',
    list,
    read,
  ]);
  const servers = await client.call('mcp.add', {
    servers: [
      program('files', [bin('server-filesystem'), join(folder, 'notes')]),
      program('memory', [bin('server-memory')], { MEMORY_FILE_PATH: join(folder, 'memory.json') }),
    ],
  });
  expect(servers.map(({ name, state, remote }) => [name, state, remote])).toEqual([
    ['files', { status: 'ready' }, false],
    ['memory', { status: 'ready' }, false],
  ]);
  expect(servers[0]?.tools.find(({ title }) => title === 'read_text_file')).toMatchObject({
    kind: 'reads',
    always: false,
  });
  expect(servers[0]?.tools.find(({ title }) => title === 'write_file')?.kind).toBe('destroys');

  const asked = decide(client, ['chat', 'always', 'always', 'deny', 'once']);
  const { end, chat } = await ask(client, heard, servers);
  const message = await end();
  expect(message.toolUses.map(({ name, state, result }) => [name, state.status, result])).toEqual([
    ['files_read_text_file', 'done', 'The rent is 840 euros.'],
    ['files_list_directory', 'done', '[FILE] rent.txt'],
    ['files_write_file', 'done', expect.stringContaining('Successfully wrote')],
    ['memory_create_entities', 'refused', 'Error: the user did not allow this call.'],
    ['files_read_text_file', 'failed', expect.stringContaining('outside allowed directories')],
  ]);
  // Allowed for the chat, it was not asked about a second time.
  expect(asked).toEqual(['files_read_text_file', 'files_list_directory', 'files_write_file', 'memory_create_entities']);
  expect(
    (await client.call('mcp.servers'))
      .flatMap(({ tools }) => tools.filter(({ always }) => always))
      .map(({ title }) => title),
  ).toEqual(['list_directory']);

  // Another chat: what is always allowed runs, what was allowed for the first is asked about, and nobody is there to say yes.
  const other = await client.call('chats.create', {});
  await client.call('chats.update', {
    chatId: other.id,
    tools: servers.flatMap(({ tools }) => tools.map(({ name }) => name)),
  });
  const sent = await client.call('turns.send', { chatId: other.id, text: 'And now?', unattended: true });
  await heard.end(sent.turnId);
  const second = await readMessage(client, other.id, sent.messageId);
  expect(second.toolUses.map(({ state }) => state.status)).toEqual(['done', 'refused']);
  expect(chat.id).not.toBe(other.id);
});

test('the server that shows everything: errors, structure, pictures; its secrets are in no log, list or result', async () => {
  const secret = 'sk-very-secret-1234';
  const { client, heard, dataFolder } = await start([
    call('all_echo', { message: 'hello' }),
    call('all_get-sum', { a: 2, b: 'x' }),
    call('all_get-tiny-image', {}),
    call('all_get-env', {}),
  ]);
  const servers = await client.call('mcp.add', {
    servers: [program('all', [bin('server-everything')], { TOKEN: secret })],
  });
  expect(servers[0]?.state).toEqual({ status: 'ready' });
  decide(client, ['once', 'once', 'once', 'once']);
  const { end } = await ask(client, heard, servers);
  const [echo, sum, image, env] = (await end()).toolUses;
  expect(echo?.result).toBe('Echo: hello');
  expect(sum).toMatchObject({ state: { status: 'failed', problem: 'failed' } });
  // The model is told of a picture, the user sees it.
  expect(image?.result).toMatch(/\[picture 1, image\/png, \d+ KB: the user sees it, you do not\]/);
  expect(image?.result?.length).toBeLessThan(400);
  const [shown] = image?.pictures ?? [];
  expect(shown).toMatchObject({ name: 'picture-1.png', picture: { width: 20, height: 20 } });
  const { webp } = await client.call('attachments.preview', { attachmentId: shown?.id as AttachmentId, edge: 320 });
  expect(Buffer.from(webp, 'base64').subarray(8, 12).toString()).toBe('WEBP');
  expect(env?.result).toContain('"TOKEN": "***"');
  // Only what a program needs to be found goes to it of our own environment.
  expect(env?.result).not.toContain('VITEST');
  const log = await client.call('mcp.log', { serverId: servers[0]?.id as McpServerId });
  expect(JSON.stringify([servers, log])).not.toContain(secret);
  expect(servers[0]?.secrets).toEqual(['TOKEN']);
  expect(dataFolder).not.toBe('');
});

test('one that hangs, floods, dies or is not there is a sentence, and the answer goes on', async () => {
  const folder = newFolder();
  const bad = {
    dies: `else if (method === 'tools/call') process.exit(3);`,
    floods: `else if (method === 'tools/call') { const line = 'x'.repeat(1e6); const more = () => { while (process.stdout.write(line)); }; process.stdout.on('drain', more); more(); }`,
    nests: `else if (method === 'tools/call') process.stdout.write('['.repeat(100_000) + '\\n');`,
    lies: `else if (method === 'tools/call') { process.stdout.write('no message\\n{"half":\\n'); send(id, { content: [{ type: 'text', text: 'well' }] }); }`,
  };
  const { client, heard } = await start([
    ...Object.keys(bad).map((name) => call(`${name}_go`, {})),
    call('dies_go', {}),
  ]);
  const servers = await client.call('mcp.add', {
    servers: [
      ...Object.entries(bad).map(([name, body]) => program(name, written(folder, body))),
      { name: 'absent', config: { command: join(folder, 'nothing-here'), args: [], env: {} } },
      program('ends', ['-e', 'console.error("no key was given"); process.exit(1)']),
    ],
  });
  expect(servers.map(({ state }) => ('problem' in state ? state.problem : state.status))).toEqual([
    'ready',
    'ready',
    'ready',
    'ready',
    'no-program',
    'ended',
  ]);
  expect((await client.call('mcp.log', { serverId: servers[5]?.id as McpServerId }))[0]).toBe('no key was given');
  decide(client, ['once', 'once', 'once', 'once', 'once']);
  const { end } = await ask(client, heard, servers);
  const message = await end();
  expect(message.toolUses.map(({ state, result }) => [state.status, result])).toEqual([
    ['failed', 'Error: its server: exit code 3'],
    ['failed', 'Error: its server: it sent more than a call can ask for'],
    ['failed', 'Error: its server: it sent more than a call can ask for'],
    ['done', 'well'],
    // It was started again for this call.
    ['failed', 'Error: its server: exit code 3'],
  ]);
  expect(message.text).toBe('Done.');
}, 60_000);

test('the stop button ends a call that hangs, and what a server has started ends with Longhand', async () => {
  const folder = newFolder();
  const hangs = `else if (method === 'tools/call') { import('node:child_process').then(({ spawn }) => { const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }); import('node:fs').then(({ writeFileSync }) => writeFileSync(${JSON.stringify(join(folder, 'pids'))}, process.pid + ' ' + pid)); }); }
  process.on('SIGTERM', () => {});
  if (false) {}`;
  const { client, heard, host } = await start([call('hangs_go', {})]);
  const servers = await client.call('mcp.add', { servers: [program('hangs', written(folder, hangs))] });
  decide(client, ['once']);
  const running = next(client, 'turn', ({ event }) => event.type === 'tool' && event.use.state.status === 'running');
  const { sent, end } = await ask(client, heard, servers);
  await running;
  await expect.poll(() => spawnSync('test', ['-s', join(folder, 'pids')]).status, { timeout: 10_000 }).toBe(0);
  await client.call('turns.cancel', { turnId: sent.turnId as never });
  const message = await end();
  expect(message.state).toEqual({ status: 'done', reason: 'cancelled' });
  expect(message.toolUses[0]).toMatchObject({
    state: { status: 'interrupted' },
    result: expect.stringContaining('was interrupted'),
  });
  const pids = readFileSync(join(folder, 'pids'), 'utf8').split(' ').map(Number);
  const alive = () => pids.filter((pid) => isAlive(pid));
  expect(alive()).toHaveLength(2);
  await host.close();
  await expect.poll(alive, { timeout: 10_000 }).toEqual([]);
}, 60_000);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process that has ended and that nobody has asked about yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('a server at an address: its headers go there, a page is no server, and a switched-off network reaches this computer alone', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      seen.push(request.headers.authorization);
      const { id, method, params } = body === '' ? { id: 0, method: '', params: {} } : JSON.parse(body);
      if (request.url === '/page') return response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      if (request.method === 'GET') return response.writeHead(405).end();
      if (id === undefined) return response.writeHead(202).end();
      const tools = [{ name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];
      const result =
        method === 'initialize'
          ? {
              protocolVersion: params.protocolVersion,
              capabilities: { tools: {} },
              serverInfo: { name: 'w', version: '1' },
            }
          : method === 'tools/list'
            ? { tools }
            : { content: [{ type: 'text', text: `looked ${JSON.stringify(params.arguments)}` }] };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const { client, heard } = await start([call('web_look', { at: 'this' })]);
  await client.call('settings.set', { network: 'off' });
  const servers = await client.call('mcp.add', {
    servers: [
      { name: 'web', config: { url: `${address}/mcp?key=hidden-part`, headers: { Authorization: 'Bearer abcdef' } } },
      { name: 'page', config: { url: `${address}/page`, headers: {} } },
      { name: 'far', config: { url: 'https://tools.example/mcp', headers: {} } },
    ],
  });
  expect(servers.map(({ state }) => ('problem' in state ? state.problem : state.status))).toEqual([
    'ready',
    'refused',
    'off',
  ]);
  expect(servers[0]).toMatchObject({ target: `${address}/mcp`, remote: true, secrets: ['Authorization'] });
  expect(seen).toContain('Bearer abcdef');
  decide(client, ['once']);
  const { end } = await ask(client, heard, servers);
  expect((await end()).toolUses[0]?.result).toBe('looked {"at":"this"}');
  const log = await client.call('privacy.networkLog');
  expect(log.filter(({ reason }) => reason === 'tool')).toMatchObject([
    { host: 'tools.example', allowed: false, about: 'far' },
  ]);
});

test('a tool that describes itself otherwise than when it was allowed is asked about again; a removed server leaves nothing', async () => {
  const folder = newFolder();
  const args = written(folder, '');
  const { client, host, dataFolder } = await start([]);
  const [server] = await client.call('mcp.add', { servers: [program('shifty', args)] });
  const serverId = server?.id as McpServerId;
  // Every window hears of it.
  const told = next(client, 'mcp.changed', ([one]) => one?.tools[0]?.always === true);
  await client.call('mcp.setAlways', { serverId, tool: 'shifty_go', always: true });
  await told;
  const always = async () => (await client.call('mcp.servers'))[0]?.tools[0]?.always;
  expect(await always()).toBe(true);
  writeFileSync(
    args[0] ?? '',
    readFileSync(args[0] ?? '', 'utf8').replace("'Goes'", "'Goes, and reads your keys first'"),
  );
  await client.call('mcp.restart', { serverId });
  expect(await always()).toBe(false);
  await client.call('mcp.remove', { serverId });
  expect(await client.call('mcp.servers')).toEqual([]);
  await host.close();
  const db = openDatabase(join(dataFolder, 'longhand.db'));
  expect(db.all('SELECT * FROM tool_consents')).toEqual([]);
  db.close();
});
