import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { type CallName, type Client, failureOf } from '../../../app/protocol/index.ts';
import { ask, call, decide, program, start, template, written } from '../../app/tools/tool-servers.ts';
import { connect, listen, newFolder } from '../../support/core/core.ts';
import { startScripted } from '../../support/core/scripted-core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { soaking } from '../../support/soak.ts';
import { tallyOf } from '../tally.ts';

//  A database in which one value is not what was written: a disk that lies, another program, another version. SQLite finds none of
//  this. Whatever value it is, Longhand starts, says what it cannot read, and everything else is there.

vi.setConfig({ testTimeout: 600_000 });
const tally = tallyOf('databases');

const ROWS = `
INSERT INTO downloads VALUES ('019adc00-0000-7000-8000-000000000001', 'A model', 'huggingface', 'a/b', 'c0ffee', '[{"name":"a.gguf","size":5,"sha256":null,"etag":null}]', 1, 0, 1);
INSERT INTO network_log VALUES ('2026-11-27', 1, 'hub.example', 'search', 'a model', 1, 1, 100);
INSERT INTO page_hosts SELECT 'site.example', id FROM chats LIMIT 1;
INSERT INTO watched_folders SELECT id, '/nowhere/at/all', NULL FROM collections LIMIT 1;
INSERT INTO measurements VALUES ('bandwidth', 5e9, 1);
`;

/** A data folder with something in every table. */
async function filled(): Promise<string> {
  const folder = newFolder();
  const tool = written(
    newFolder(),
    `else if (method === 'tools/call') send(id, { content: [{ type: 'text', text: 'ok' }] });`,
  );
  const { client, heard, host, dataFolder } = await start([call('one_go', {}), 'It is done.', 'A plain answer.']);
  const servers = await client.call('mcp.add', { servers: [program('one', tool)] });
  decide(client, ['always']);
  await (await ask(client, heard, servers)).end();
  const plain = await client.call('chats.create', {});
  await client.call('chats.update', {
    chatId: plain.id,
    title: 'A plain chat',
    sampling: { temperature: 0.5 },
    tools: [],
  });
  writeFileSync(join(folder, 'a.txt'), 'The rent is 900 euros a month.\n\nIt is due on the third.');
  await client.call('attachments.add', { chatId: plain.id, path: join(folder, 'a.txt'), name: 'a.txt' });
  const sent = await client.call('turns.send', { chatId: plain.id, text: 'Hello' });
  await heard.end(sent.turnId);
  const collection = await client.call('documents.createCollection', { name: 'Mine' });
  await client.call('documents.add', {
    collectionId: collection.id,
    files: [{ path: join(folder, 'a.txt'), name: 'a.txt' }],
  });
  const document = async () => (await client.call('documents.list', { collectionId: collection.id }))[0];
  await expect.poll(async () => (await document())?.state.status, { timeout: 20_000 }).toBe('ready');
  await client.call('settings.set', { fontSize: 15 } as never).catch(() => {});
  await client.call('server.addKey', { name: 'editor' });
  await host.close();
  const db = new DatabaseSync(join(dataFolder, 'longhand.db'));
  for (const row of ROWS.trim().split('\n')) db.exec(row);
  db.close();
  return dataFolder;
}

type Value = string | number | bigint | Uint8Array;

/** What a column of a type may hold instead. */
const VALUES: Readonly<Record<string, readonly Value[]>> = {
  TEXT: [
    'not JSON {',
    '',
    'null',
    '{}',
    '[]',
    '7',
    '"text"',
    '[null]',
    '{"status":"nobody knows this"}',
    `${'['.repeat(5000)}${']'.repeat(5000)}`,
    'x'.repeat(2_000_000),
  ],
  INTEGER: [-1, 0, 7, 2n ** 62n, -(2n ** 63n)],
  REAL: [-1, 1e308, Number.POSITIVE_INFINITY],
  BLOB: [new Uint8Array(), new Uint8Array([255]), new Uint8Array(100).fill(254)],
};

/** In short a few of them, others for each column. */
const valuesFor = (type: string, at: number): readonly Value[] => {
  const all = VALUES[type] ?? [];
  const some = type === 'TEXT' ? [at % 10, ...(at % 9 === 0 ? [10] : [])] : [at % all.length];
  return soaking ? all : some.flatMap((index) => all[index] ?? []);
};

type Column = { table: string; column: string; type: string };

function columnsOf(folder: string): Column[] {
  const db = new DatabaseSync(join(folder, 'longhand.db'), { readOnly: true });
  const tables = db
    .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%STRICT%' ORDER BY name`)
    .all() as { name: string }[];
  const found = tables.flatMap(({ name: table }) => {
    const filled = db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
    const columns = db.prepare(`PRAGMA table_info(${table})`).all() as { name: string; type: string; pk: number }[];
    return filled ? columns.filter(({ pk }) => pk === 0).map(({ name, type }) => ({ table, column: name, type })) : [];
  });
  db.close();
  return found;
}

/** Replaces the value in the first row of the table. */
function damage(db: DatabaseSync, { table, column }: Column, value: Value) {
  db.function('fold', (text) => String(text).toLowerCase());
  db.exec('PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON');
  const keys = (db.prepare(`PRAGMA table_info(${table})`).all() as { name: string; pk: number }[]).filter(
    ({ pk }) => pk > 0,
  );
  const names = keys.length === 0 ? ['rowid'] : keys.map(({ name }) => name);
  const first = db.prepare(`SELECT ${names.join()} FROM ${table} LIMIT 1`).get() as Record<string, string | number>;
  const where = names.map((name) => `${name} = ?`).join(' AND ');
  const { changes } = db
    .prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`)
    .run(value, ...names.map((name) => first[name] ?? null));
  expect(changes).toBe(1);
}

/** Calls that only read, with what they need. */
async function readEverything(client: Client): Promise<string[]> {
  const wrong: string[] = [];
  const read = async <T>(name: CallName, run: () => Promise<T>): Promise<T | null> => {
    try {
      return await run();
    } catch (error) {
      const { code, message } = failureOf(error);
      if (code === 'internal') wrong.push(`${name}: ${message}`);
      return null;
    }
  };
  const chats = (await read('chats.list', () => client.call('chats.list', {}))) ?? [];
  for (const { id } of chats) await read('chats.get', () => client.call('chats.get', { chatId: id }));
  await read('chats.search', () => client.call('chats.search', { query: 'plain' }));
  await read('models.list', () => client.call('models.list'));
  await read('downloads.list', () => client.call('downloads.list'));
  await read('privacy.networkLog', () => client.call('privacy.networkLog'));
  await read('settings.get', () => client.call('settings.get'));
  await read('metrics.runs', () => client.call('metrics.runs', { limit: 10 }));
  await read('mcp.servers', () => client.call('mcp.servers'));
  await read('tools.list', () => client.call('tools.list', { modelId: null }));
  await read('tools.pageHosts', () => client.call('tools.pageHosts'));
  await read('remoteEngines.list', () => client.call('remoteEngines.list'));
  await read('server.keys', () => client.call('server.keys'));
  await read('library.state', () => client.call('library.state'));
  const collections = (await read('documents.collections', () => client.call('documents.collections'))) ?? [];
  for (const { id } of collections)
    await read('documents.list', () => client.call('documents.list', { collectionId: id }));
  const collectionIds = collections.map(({ id }) => id);
  const found = await read('documents.search', () => client.call('documents.search', { query: 'rent', collectionIds }));
  for (const { passageId, documentId } of found?.hits ?? []) {
    await read('documents.passage', () => client.call('documents.passage', { passageId }));
    await read('documents.content', () => client.call('documents.content', { documentId, from: 0, limit: 10 }));
  }
  await read('documents.ask', () => client.call('documents.ask', { question: 'How much is the rent?', collectionIds }));
  return wrong;
}

test('one value of the database is something else', async () => {
  const source = await filled();
  const columns = columnsOf(source);
  expect(columns.length).toBeGreaterThan(50);
  const attacks = columns.flatMap((column, at) => valuesFor(column.type, at).map((value) => ({ column, value })));
  const { startEngine } = scriptedEngine(() => 'A new answer.', 4e9, template);
  for (const { column, value } of attacks)
    await tally.refused(`${column.table}.${column.column} = ${String(value).slice(0, 30)}`, async () => {
      const folder = newFolder();
      mkdirSync(join(folder, 'documents'), { recursive: true });
      copyFileSync(join(source, 'longhand.db'), join(folder, 'longhand.db'));
      const db = new DatabaseSync(join(folder, 'longhand.db'));
      damage(db, column, value);
      db.close();
      const core = await startScripted(folder, startEngine);
      try {
        const client = connect(core);
        const heard = listen(client);
        const wrong = await readEverything(client);
        if (wrong.length > 0) throw new Error(wrong.join('; '));
        const chat = await client.call('chats.create', {});
        // Nobody can know any more where the files of this model are.
        const lost = column.table === 'models' && ['path', 'preset_of', 'remote'].includes(column.column);
        const asked = await client.call('turns.send', { chatId: chat.id, text: 'Hello' }).catch(failureOf);
        if (lost && 'code' in asked) return expect(asked.code).toBe('model-missing');
        if ('code' in asked) throw new Error(asked.message);
        await heard.end(asked.turnId);
        expect(JSON.stringify(await client.call('chats.get', { chatId: chat.id }))).toContain('A new answer.');
      } finally {
        await core.close();
      }
    });
  tally.settle();
});
