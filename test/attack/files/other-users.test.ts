import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { enterPath, failureOf, ticketPath, uploadPath } from '../../../app/protocol/index.ts';
import { userOf } from '../../../app/server/peer-user.ts';
import { startBrowserHost } from '../../../app/server/web-server.ts';
import { backUp } from '../../../app/store/database/backups.ts';
import { closeContents, closeFolder } from '../../../app/store/folder/permissions.ts';
import { readHolder } from '../../../app/store/lock.ts';
import { openStore } from '../../../app/store/store.ts';
import { enter, openSocket } from '../../support/core/browser.ts';
import { isEnd, newFolder, next, places, root, startCore } from '../../support/core/core.ts';
import { startHub } from '../../support/fakes/hub.ts';
import { starterFiles } from '../../support/models/models.ts';
import { asNobody, everythingIn, isOpenToOthers, isRoot, nobody } from '../../support/second-user.ts';
import { tallyOf } from '../tally.ts';

const tally = tallyOf('otherUsers');

/** Starts the browser host with the usual umask. */
async function start(dataFolder: string, env: Record<string, string> = {}, args = ['--no-open']) {
  const command = `umask 022; exec "$0" "$@"`;
  const child = spawn(
    'sh',
    ['-c', command, process.execPath, join(root, 'app/server/main.ts'), '--data', dataFolder, '--port', '0', ...args],
    { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  onTestFinished(() => end(child));
  return { child, address: await saidAddress(child) };
}

async function end(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function saidAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const hear = (chunk: unknown) => {
      text += String(chunk);
      const address = /http:\S+/.exec(text)?.[0];
      if (address) resolve(address);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
}

/** A data folder of an earlier version, with its permissions. */
function oldFolder(): string {
  const folder = join(newFolder(), 'longhand');
  for (const name of ['', 'backups', 'models', 'models/blobs', 'logs', 'packed', 'documents']) {
    mkdirSync(join(folder, name), { mode: 0o755 });
    chmodSync(join(folder, name), 0o755);
  }
  for (const name of [
    'backups/daily-old.db',
    'models/blobs/old',
    'logs/old.log',
    'packed/old',
    'documents/old.txt',
    'tokens.json',
    'browser-token',
    'longhand.lock',
  ]) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o644);
  }
  return folder;
}

test('after a whole session under umask 022 nothing in the data folder is open to others', async () => {
  const dataFolder = oldFolder();
  const hub = await startHub({ files: starterFiles() });
  onTestFinished(() => hub.stop());
  const { address } = await start(dataFolder);
  const { client, socket } = await openSocket(address);
  await client.call('settings.set', { hubEndpoint: hub.url, proxy: null });
  const chat = await client.call('chats.create', {});
  const ended = next(client, 'turn', ({ event }) => isEnd(event));
  await client.call('turns.send', { chatId: chat.id, text: 'My secret is a plum.' });
  await ended;
  const file = join(newFolder(), 'plums.md');
  writeFileSync(file, '# Plums\n\nA plum is a fruit with a stone.');
  const { id: collectionId } = await client.call('documents.createCollection', { name: 'Plums' });
  await client.call('documents.add', { collectionId, files: [{ path: file, name: 'plums.md' }] });
  await vi.waitFor(
    async () =>
      expect(await client.call('documents.search', { query: 'stone', collectionIds: [collectionId] })).not.toEqual([]),
    { timeout: 20_000, interval: 200 },
  );
  await client.call('downloads.start', { reference: 'acme/tiny' });
  await vi.waitFor(async () => expect(await client.call('models.list')).toHaveLength(2), { timeout: 20_000 });
  await client.call('tokens.set', { source: 'huggingface', token: 'hf_secret' });
  const lines = readHolder(join(dataFolder, 'longhand.lock.json'));
  const { origin, secret } = await freshPage(String(lines?.address), String(lines?.key));
  await fetch(`${origin}${uploadPath}?name=a.txt`, {
    method: 'POST',
    headers: { origin, authorization: `Bearer ${secret}` },
    body: 'plums',
  });
  const all = everythingIn(dataFolder);
  expect(all.length).toBeGreaterThan(20);
  for (const path of all)
    await tally.refused(path.slice(dataFolder.length), () => expect(isOpenToOthers(path)).toBe(false));
  if (isRoot) {
    const script = `import { readFileSync, readdirSync } from 'node:fs';
      const open = process.argv.slice(1).filter((path) => { try { readFileSync(path); return true; } catch (error) {
        if (error.code === 'EISDIR') try { readdirSync(path); return true; } catch { return false; }
        return false; } });
      process.stdout.write(JSON.stringify(open));`;
    const { stdout } = asNobody(script, all);
    const readable = JSON.parse(stdout) as string[];
    for (const path of all) await tally.refused(`reading ${path}`, () => expect(readable).not.toContain(path));
  }
  socket.close();
  tally.settle();
}, 90_000);

async function freshPage(address: string, key: string) {
  const answer = await fetch(address + ticketPath, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  const { ticket } = (await answer.json()) as { ticket: string };
  return enter(`${address}/#once=${ticket}`);
}

test('backups are private whatever the umask', async () => {
  const own = process.umask(0o022);
  onTestFinished(() => void process.umask(own));
  const folder = newFolder();
  const store = await openStore({ folder, migrations: places.migrations });
  await backUp(store, 'daily', Date.now());
  for (const path of everythingIn(folder)) {
    await tally.refused(path.slice(folder.length), () => expect(isOpenToOthers(path)).toBe(false));
  }
  store.close();
  tally.settle();
});

test('a folder that holds other things as well keeps its own rights, and so do those; links are not followed', async () => {
  const folder = newFolder();
  chmodSync(folder, 0o755);
  const elsewhere = join(newFolder(), 'elsewhere.gguf');
  for (const path of [elsewhere, join(folder, 'holiday.jpg'), join(folder, 'longhand.db')]) {
    writeFileSync(path, '');
    chmodSync(path, 0o644);
  }
  mkdirSync(join(folder, 'models'));
  symlinkSync(elsewhere, join(folder, 'models', 'link.gguf'));
  symlinkSync('..', join(folder, 'models', 'circle'));
  closeFolder(folder);
  await closeContents(folder);
  expect([folder, join(folder, 'holiday.jpg'), elsewhere].map(isOpenToOthers)).toEqual([true, true, true]);
  expect(isOpenToOthers(join(folder, 'longhand.db'))).toBe(false);
});

test('a library that was moved out of the data folder is closed as well, also one that an earlier version moved', async () => {
  const dataFolder = join(newFolder(), 'longhand');
  const elsewhere = newFolder();
  const library = join(elsewhere, 'models');
  chmodSync(elsewhere, 0o755);
  mkdirSync(library, { mode: 0o755 });
  chmodSync(library, 0o755);
  const hub = await startHub({ files: starterFiles() });
  onTestFinished(() => hub.stop());
  const first = await start(dataFolder);
  const { client } = await openSocket(first.address);
  await client.call('settings.set', { hubEndpoint: hub.url, proxy: null });
  await client.call('downloads.start', { reference: 'acme/tiny' });
  await vi.waitFor(async () => expect(await client.call('models.list')).toHaveLength(2), { timeout: 20_000 });
  await client.call('library.move', { folder: library });
  await vi.waitFor(
    async () => expect(await client.call('library.state')).toMatchObject({ folder: library, move: null }),
    {
      timeout: 20_000,
    },
  );
  const all = everythingIn(library);
  expect(all.length).toBeGreaterThan(10);
  for (const path of all)
    await tally.refused(`moved: ${path.slice(library.length)}`, () => expect(isOpenToOthers(path)).toBe(false));
  await end(first.child);

  for (const path of all) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
  const second = await start(dataFolder);
  await openSocket(second.address);
  await vi.waitFor(() => expect(all.filter(isOpenToOthers)).toEqual([]), { timeout: 20_000 }).catch(() => {});
  for (const path of all)
    await tally.refused(`left open: ${path.slice(library.length)}`, () => expect(isOpenToOthers(path)).toBe(false));
  await end(second.child);

  // Foreign files must stay unchanged.
  writeFileSync(join(library, 'notes.txt'), '', { mode: 0o644 });
  chmodSync(join(library, 'notes.txt'), 0o644);
  chmodSync(library, 0o755);
  chmodSync(join(library, 'blobs'), 0o755);
  const third = await start(dataFolder);
  await openSocket(third.address);
  await vi.waitFor(() => expect(isOpenToOthers(join(library, 'blobs'))).toBe(false), { timeout: 20_000 });
  expect([library, join(library, 'notes.txt')].map(isOpenToOthers)).toEqual([true, true]);
  tally.settle();
}, 120_000);

test('the address that a program is started with is worth nothing to whoever reads the list of processes', async () => {
  const programs = newFolder();
  const seen = join(programs, 'seen');
  writeFileSync(
    join(programs, 'xdg-open'),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${seen}.part'\numask >> '${seen}.part'\nmv '${seen}.part' '${seen}'\n`,
  );
  chmodSync(join(programs, 'xdg-open'), 0o755);
  const { child, address } = await start(
    join(newFolder(), 'longhand'),
    { DISPLAY: ':99', PATH: `${programs}:${process.env.PATH}` },
    [],
  );
  await vi.waitFor(() => expect(existsSync(seen)).toBe(true), { timeout: 10_000 });
  const [opened = '', umask] = readFileSync(seen, 'utf8').trim().split('\n');
  expect(opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#once=[\w-]{43}$/);
  expect(opened, 'the printed one is another').not.toBe(address);
  expect(umask, 'a browser that starts writes as its user wants it').toBe('0022');
  const running = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;
  await tally.refused('a secret in the list of processes', () => expect(running).not.toContain('#once='));
  if (isRoot) {
    const { origin, hash } = new URL(opened);
    const script = `const [url, origin, ticket] = process.argv.slice(1);
      const answer = await fetch(url, { method: 'POST', headers: { Origin: origin, Authorization: 'Bearer ' + ticket } });
      process.stdout.write(String(answer.status));`;
    await tally.refused('another user who is quicker than the browser', () =>
      expect(asNobody(script, [origin + enterPath, origin, hash.replace('#once=', '')])).toMatchObject({
        stdout: '403',
      }),
    );
  }
  const { secret } = await enter(opened);
  expect(secret).toMatch(/^[\w-]{43}$/);
  await tally.refused('the address once more', () =>
    expect(enter(opened)).rejects.toMatchObject({ code: 'permission' }),
  );
  await end(child);
  tally.settle();
}, 30_000);

test.skipIf(!isRoot || process.platform !== 'linux')('whose connection it is stands in the kernel’s table', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:12D1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0',
    `   1: 0100007F:9C40 0100007F:12D1 01 00000000:00000000 00:00000000 00000000 ${nobody}        0 2 1 0 20 4 30 10 -1`,
    '   2: 0100007F:12D1 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1',
  ].join('\n');
  expect(userOf(40_000, 4817, table)).toBe(nobody);
  expect(userOf(40_001, 4817, table)).toBeNull();
  expect(userOf(40_000, 4818, table)).toBeNull();
});

test.skipIf(!isRoot || process.platform !== 'linux')(
  'another user takes no room and uses no secret',
  async () => {
    const { child, address } = await start(join(newFolder(), 'longhand'));
    const { origin, secret } = await enter(address);
    const upload = `const [url, origin, secret] = process.argv.slice(1);
    const headers = { Origin: origin, Authorization: 'Bearer ' + secret };
    const answer = await fetch(url, { method: 'POST', headers, body: 'x' });
    process.stdout.write(String(answer.status));`;
    await tally.refused('an upload with a secret that was seen', () =>
      expect(asNobody(upload, [`${origin}${uploadPath}?name=a`, origin, secret])).toMatchObject({ stdout: '403' }),
    );
    const many = `const { connect } = await import('node:net');
    process.setgroups([]); process.setgid(${nobody}); process.setuid(${nobody});
    for (let count = 0; count < 1200; count++) connect(Number(process.argv[1]), '127.0.0.1').on('error', () => {});
    setTimeout(() => process.stdout.write('held'), 1500); setTimeout(() => process.exit(), 20_000);`;
    const crowd = spawn(process.execPath, ['--input-type=module', '-e', many, '--', new URL(origin).port], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void crowd.kill('SIGKILL'));
    await once(crowd.stdout, 'data');
    await tally.refused('twelve hundred connections', async () => {
      expect(readdirSync(`/proc/${child.pid}/fd`).length).toBeLessThan(300);
      const page = await freshPage(origin, String(readHolder(join(dataFolderOf(child), 'longhand.lock.json'))?.key));
      expect(page.secret).toMatch(/^[\w-]{43}$/);
    });
    crowd.kill('SIGKILL');
    await end(child);
    tally.settle();
  },
  60_000,
);

const dataFolderOf = ({ spawnargs }: ChildProcess): string => spawnargs[spawnargs.indexOf('--data') + 1] ?? '';

test.skipIf(!isRoot)('another user’s data folder is named in one sentence, and nothing of it is shown', async () => {
  const closed = join(newFolder(), 'longhand');
  (await openStore({ folder: closed, migrations: places.migrations })).close();
  const shared = newFolder();
  (await openStore({ folder: shared, migrations: places.migrations })).close();
  chmodSync(shared, 0o777);
  chmodSync(join(closed, '..'), 0o755);
  for (const [what, folder] of [
    ['a folder that is closed', closed],
    ['a folder for all with a lock of somebody else', shared],
  ] as const) {
    await tally.refused(what, () => {
      const script = `process.argv.splice(1, 0, 'x'); const { openStore } = await import(process.argv[2]);
        try { await openStore({ folder: process.argv[3], migrations: process.argv[4] }); process.stdout.write('open'); }
        catch (error) { process.stdout.write(error.code + ' ' + error.message); }`;
      const { stdout, stderr } = asNobody(script, [join(root, 'app/store/store.ts'), folder, places.migrations]);
      expect(stdout + stderr).toMatch(/^permission \[data folder\] .* belongs to another user/);
    });
  }
  tally.settle();
});

test('what is no file where a file belongs is said in one line', async () => {
  for (const name of [
    'longhand.lock',
    'longhand.lock.json',
    'longhand.db',
    'browser-token',
    'browser-port',
    'uploads',
    'backups',
    'tokens.json',
    'prompts.key',
  ]) {
    await tally.refused(`${name} as a folder`, async () => {
      const folder = newFolder();
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'x'), '');
      await startsOrSays(folder);
    });
  }
  for (const name of ['uploads', 'backups', 'models', 'documents', 'packed', 'logs']) {
    await tally.refused(`${name} as a file`, async () => {
      const folder = newFolder();
      writeFileSync(join(folder, name), '');
      await startsOrSays(folder);
    });
  }
  tally.settle();
}, 60_000);

/** Starts up to the page. */
async function startsOrSays(dataFolder: string) {
  let started: Awaited<ReturnType<typeof startCore>>;
  try {
    started = await startCore({ dataFolder });
  } catch (error) {
    expect(failureOf(error)).toMatchObject({ message: expect.stringMatching(/^\[[^\n]+$/) });
    expect(failureOf(error).code).not.toBe('internal');
    return;
  }
  const served = await startBrowserHost({ host: started.host, renderer: newFolder(), port: 0 });
  started.host.announce(served.reach);
  await served.close();
  await started.host.close();
}
