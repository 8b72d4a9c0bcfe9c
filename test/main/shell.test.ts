import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pipeToChild } from '../../app/process/transport.ts';
import { type Client, createClient, MenuCommand, menuKeys, type PreloadApi } from '../../app/protocol/index.ts';
import { openDatabase } from '../../app/store/database.ts';
import { getMessage } from '../../app/store/messages.ts';
import { hostRules } from '../../main/security.ts';
import { words } from '../../main/strings.ts';
import { isEnd, next, places, textOf } from '../support/core.ts';
import * as electron from '../support/fake-electron.ts';

vi.mock('electron', () => import('../support/fake-electron.ts'));

//  The desktop shell from main/index.ts on, with the fake in the place of Electron and everything else real: the core of
//  main/core-entry.ts, the engine process, the preload script, ports.

const { app, done, world, BrowserWindow } = electron;
const engines: ChildProcess[] = [];
const readers: ChildProcess[] = [];
const cores: Worker[] = [];

function startCore(args: string[]): electron.FakeUtilityProcess {
  const options = { ...JSON.parse(args[0] ?? ''), migrations: places.migrations };
  const worker = new Worker(join(import.meta.dirname, '../support/core-worker.ts'), {
    argv: [JSON.stringify(options)],
  });
  const process = new electron.FakeUtilityProcess();
  cores.push(worker);
  worker.on('message', (message) => process.emit('message', message));
  worker.on('exit', (code) => process.emit('exit', code));
  process.inbox.on('message', ({ data, ports }: { data: unknown; ports: electron.FakePort[] }) => {
    const real = ports.map((port) => port.real);
    worker.postMessage({ data, ports: real }, real);
  });
  return process;
}

function runEngine(args: string[]): electron.FakeUtilityProcess {
  expect(args[1]).toContain('template-worker');
  const child = fork(places.engine, [places.addon, places.worker], { serialization: 'advanced', execArgv: [] });
  engines.push(child);
  return processOf(child);
}

function runReader([worker = '', limits = '']: string[]): electron.FakeUtilityProcess {
  expect(worker).toContain('document-worker');
  const child = fork(places.documentReader, [places.documentWorker, limits], {
    serialization: 'advanced',
    execArgv: [],
  });
  readers.push(child);
  return processOf(child);
}

/** Talks through a port, as Electron's own do. */
function processOf(child: ChildProcess): electron.FakeUtilityProcess {
  const process = new electron.FakeUtilityProcess();
  process.pid = child.pid;
  child.once('exit', () => process.emit('exit', 0));
  process.inbox.once('message', ({ ports: [port] }: { ports: electron.FakePort[] }) => {
    const pipe = pipeToChild<unknown, unknown>(child);
    port?.on('message', ({ data }: { data: unknown }) => pipe.send(data));
    port?.start();
    pipe.onMessage((message) => port?.postMessage(message));
  });
  return process;
}

let folder: string;
let client: Client;
let api: PreloadApi;
const window = () => BrowserWindow.all[0] as InstanceType<typeof BrowserWindow>;
/** Until nothing is left but what is held. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose_gc');
  await new Promise((resolve) => setImmediate(resolve));
  runInNewContext('gc')();
}
const until = async (fits: () => boolean) => {
  while (!fits()) await new Promise((resolve) => setTimeout(resolve, 10));
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhand-shell-'));
  process.env.LONGHAND_DATA_DIR = join(folder, 'data');
  world.appPath = join(folder, 'app');
  mkdirSync(join(folder, 'app', 'dist', 'renderer'), { recursive: true });
  mkdirSync(join(folder, 'data', 'shell'), { recursive: true });
  writeFileSync(join(folder, 'app', 'dist', 'renderer', 'index.html'), '<title>Longhand</title>');
  symlinkSync(places.resources, join(folder, 'app', 'resources'));
  world.fork = (file, args) => {
    if (file.endsWith('document-reader.js')) return runReader(args);
    return file.endsWith('engine.js') ? runEngine(args) : startCore(args);
  };
  await import('../../main/index.ts');
  await until(() => BrowserWindow.all.length > 0);
  await import('../../main/preload.ts');
  api = done.exposed.get('longhand') as PreloadApi;
  client = createClient();
  let receive: (frame: never) => void = () => {};
  let close = () => {};
  api.listen({
    opened: () =>
      client.attach({
        send: api.send,
        onMessage: (listener) => {
          receive = listener as typeof receive;
        },
        onClose: (listener) => {
          close = listener;
        },
        close: () => {},
      }),
    message: (frame) => receive(frame as never),
    closed: () => close(),
  });
}, 60_000);

afterAll(async () => {
  for (const worker of cores) await worker.terminate();
  rmSync(folder, { recursive: true, force: true });
  for (const child of [...engines, ...readers]) child.kill('SIGKILL');
});

test('a question goes from the preload script through the core to the engine and back, and the machine stays awake', async () => {
  expect(await client.call('app.info')).toMatchObject({ shell: 'electron', dataFolder: join(folder, 'data') });
  const chat = await client.call('chats.create', {});
  const events: Parameters<typeof textOf>[0][number][] = [];
  client.on('turn', ({ event }) => events.push(event));
  await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  const { event } = await next(client, 'turn', (one) => isEnd(one.event));
  expect(event).toMatchObject({ type: 'finished', reason: 'stop' });
  expect(textOf(events, 'answer')).not.toBe('');
  await until(() => done.awake.length === 2);
  expect(done.awake).toEqual(['start', 'stop']);
});

test('the engine dies alone: the core starts another one', async () => {
  const lost = next(client, 'engine.status', (status) => status.phase === 'restarting');
  engines.at(-1)?.kill('SIGKILL');
  await lost;
  const ready = next(client, 'engine.status', (status) => status.phase === 'ready');
  await ready;
  expect(engines).toHaveLength(2);
  expect(cores).toHaveLength(1);
});

test('the window: sandboxed, isolated, without Node, shown when it has something to show', () => {
  expect(window().options.webPreferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    webSecurity: true,
    webviewTag: false,
  });
  expect(window().loaded).toBe('longhand://app/');
  expect(window().shown).toBe(true);
  expect(done.sandboxed).toBe(true);
  expect(done.switches).toContain('disable-background-networking');
  expect(done.switches).toContain('host-resolver-rules');
});

test('the only host that Chromium finds is the one of the page that is being developed', () => {
  expect(hostRules()).toBe('MAP * ~NOTFOUND');
  expect(hostRules('http://localhost:5173')).toBe('MAP * ~NOTFOUND, EXCLUDE localhost');
});

test('the page is served from our own scheme with the policy, and nothing outside its folder', async () => {
  expect(done.schemes).toMatchObject([{ scheme: 'longhand', privileges: { standard: true, secure: true } }]);
  const serve = done.protocols.get('longhand');
  const page = await serve?.({ url: 'longhand://app/', method: 'GET' });
  expect(await page?.text()).toContain('Longhand');
  expect(page?.headers.get('content-security-policy')).toContain("default-src 'none'");
  const outside = await serve?.({ url: 'longhand://app/..%2f..%2f..%2fdata%2flonghand.db', method: 'GET' });
  expect(await outside?.text()).toContain('<title>Longhand</title>');
  expect((await serve?.({ url: 'longhand://elsewhere/', method: 'GET' }))?.status).toBe(403);
  expect((await serve?.({ url: 'longhand://app/', method: 'POST' }))?.status).toBe(403);
});

test('no permission, no device, no other page, no window, no network; what was tried is said', async () => {
  const guarded = electron.session.defaultSession;
  const verdicts: boolean[] = [];
  for (const permission of ['media', 'geolocation', 'notifications', 'clipboard-read', 'midi', 'openExternal']) {
    guarded.permission?.(null, permission, (allowed) => verdicts.push(allowed));
    expect(guarded.check?.(null, permission)).toBe(false);
  }
  expect(verdicts.every((allowed) => !allowed)).toBe(true);
  expect(guarded.device?.()).toBe(false);
  expect(guarded.check?.(null, 'clipboard-sanitized-write')).toBe(true);

  const said = next(client, 'notice', ({ code }) => code === 'request-blocked');
  const blocked = (url: string) => {
    let cancelled: boolean | undefined;
    guarded.request?.({ url }, ({ cancel }) => {
      cancelled = cancel;
    });
    return cancelled;
  };
  for (const url of [
    'https://evil.example/pixel.png',
    'http://127.0.0.1:4817/',
    'wss://evil.example',
    'file:///etc/passwd',
    'longhand://other/',
    'nonsense',
  ]) {
    expect(blocked(url), url).toBe(true);
  }
  expect((await said).details.address).toContain('evil.example');
  for (const url of ['longhand://app/assets/page.js', 'blob:longhand://app/1234', 'data:image/png;base64,AA']) {
    expect(blocked(url), url).toBe(false);
  }

  const contents = window().webContents;
  expect(contents.windowOpen?.({ url: 'https://evil.example' })).toEqual({ action: 'deny' });
  for (const navigation of ['will-navigate', 'will-frame-navigate', 'will-redirect']) {
    for (const url of ['https://evil.example', 'file:///etc/passwd', 'data:text/html,x', 'blob:longhand://app/1']) {
      const event = { url, preventDefault: vi.fn() };
      contents.emit(navigation, event);
      expect(event.preventDefault, `${navigation} to ${url}`).toHaveBeenCalled();
    }
    const home = { url: 'longhand://app/', preventDefault: vi.fn() };
    contents.emit(navigation, home);
    expect(home.preventDefault, navigation).not.toHaveBeenCalled();
  }
});

test('only the main frame of our page is heard, and only with sound input', async () => {
  electron.frame.current = { url: 'longhand://app/' };
  await expect(api.openExternal('https://example.org')).rejects.toThrow('[ipc]');
  // What the page made itself does not speak for it.
  const main = window().webContents.mainFrame;
  const home = main.url;
  electron.frame.current = null;
  for (const url of ['data:text/html,x', 'blob:longhand://app/1', 'devtools://devtools/x', 'longhand://other/']) {
    main.url = url;
    await expect(api.openExternal('https://example.org'), url).rejects.toThrow('[ipc]');
  }
  main.url = home;
  // Nothing leaves for another program before the person has seen where to.
  world.pressed = 1;
  await api.openExternal('https://example.org/refused');
  expect(done.details.at(-1)).toBe('https://example.org/refused');
  world.pressed = 0;
  await api.openExternal('https://example.org/a');
  for (const address of ['file:///etc/passwd', 'javascript:alert(1)', 'smb://host/share', 'x'.repeat(5000)]) {
    await expect(api.openExternal(address), address).rejects.toThrow();
  }
  expect(done.opened).toEqual(['https://example.org/a']);
  world.chosen = ['/models/a.gguf'];
  expect(await api.choose('model-file')).toEqual(['/models/a.gguf']);
  await expect(api.choose('everything' as never)).rejects.toThrow();
  expect(api.pathOf({ path: '/tmp/a.txt' })).toBe('/tmp/a.txt');
});

test('secrets are sealed with the keychain of the system before they reach the disk', async () => {
  await client.call('tokens.set', { source: 'huggingface', token: 'hf_abc' });
  expect(await client.call('tokens.list')).toEqual({ sources: ['huggingface'], kept: 'keychain' });
  const written = readFileSync(join(folder, 'data', 'tokens.json'), 'utf8');
  expect(written).not.toContain('hf_abc');
  expect(written).toContain(Buffer.from('cba_fh').toString('base64'));
});

test('a model that was fetched is told through the desktop to somebody who looks elsewhere', async () => {
  const copy = async (name: string) => {
    const finished = next(client, 'download.finished');
    await client.call('downloads.start', { reference: join(places.resources, 'starter-model'), name });
    await finished;
  };
  await copy('Otter');
  await until(() => done.notified.length > 0);
  expect(done.notified).toEqual(['Otter is ready to use']);
  world.looking = true;
  await client.call('models.remove', {
    modelId: (await client.call('models.list')).find(({ name }) => name === 'Otter')?.id as never,
  });
  await copy('Heron');
  expect(done.notified).toHaveLength(1);
  // A minimised window can still have the focus.
  window().minimized = true;
  await copy('Ibis');
  await until(() => done.notified.length > 1);
  window().minimized = false;
});

test('what keeps a download from going on is told in a sentence, and only to somebody who looks elsewhere', async () => {
  const { notify } = await import('../../main/notifications.ts');
  done.notified.length = 0;
  for (const at of ['failed', 'waitingForSpace', 'changed'] as const) {
    notify({ name: 'Otter', kind: at }, { looking: true, show: () => {} });
    notify({ name: 'Otter', kind: at }, { looking: false, show: () => {} });
  }
  expect(done.notified).toEqual([
    'Otter could not be downloaded. You can resume it at any time.',
    'Otter is waiting for disk space',
    'Otter has changed on its server. Keep the old version or get the new one?',
  ]);
});

test('a notification is held until it is clicked, so that its click is not lost', async () => {
  const { notify } = await import('../../main/notifications.ts');
  const show = vi.fn();
  done.notifications.length = 0;
  notify({ name: 'Otter', kind: 'arrived' }, { looking: false, show });
  const held = new WeakRef(done.notifications.pop() as electron.Notification);
  await collectGarbage();
  held.deref()?.emit('click');
  expect(show).toHaveBeenCalledOnce();
  await collectGarbage();
  expect(held.deref()).toBeUndefined();
});

test('menu commands reach the page; a second start shows the first window', async () => {
  const heard: string[] = [];
  api.onMenu((command) => heard.push(command));
  const clicks = JSON.stringify(done.menu[0]);
  expect(clicks).toContain('New Chat');
  const items = (done.menu[0] as { submenu?: { label?: string; click?: () => void }[] }[]).flatMap(
    (one) => one.submenu ?? [],
  );
  for (const item of items) item.click?.();
  for (const name of MenuCommand.options)
    expect(items).toContainEqual(
      expect.objectContaining({ label: words.menu[name], accelerator: menuKeys[name].replace('Mod', 'CmdOrCtrl') }),
    );
  expect(heard.sort()).toEqual(['new-chat', 'palette', 'search', 'settings', 'shortcuts', 'toggle-sidebar']);
  app.emit('second-instance');
  expect(window().focus).toHaveBeenCalled();
  expect(BrowserWindow.all).toHaveLength(1);
});

test('a page that crashes is loaded again, three times in a minute; then the user is asked', async () => {
  const { reload } = window().webContents;
  /** Nothing is loaded while Electron is still telling of the crash. */
  const crash = async () => {
    const before = reload.mock.calls.length;
    window().webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(reload).toHaveBeenCalledTimes(before);
    await new Promise((resolve) => setImmediate(resolve));
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    reload.mockClear();
    world.pressed = 0;
    for (let times = 0; times < 3; times++) await crash();
    expect(reload).toHaveBeenCalledTimes(3);
    const crashes = () => done.asked.filter((question) => question === words.crashed.title);
    expect(crashes()).toEqual([]);
    window().visible = false;
    await crash();
    expect(crashes()).toHaveLength(1);
    // It is asked on a window that is seen, also when the page never got as far as its first picture.
    expect(window().visible).toBe(true);
    expect(reload).toHaveBeenCalledTimes(4);
    // A page that held for a minute may crash three times again.
    vi.setSystemTime(Date.now() + 61_000);
    for (let times = 0; times < 3; times++) await crash();
    expect(reload).toHaveBeenCalledTimes(7);
    expect(crashes()).toHaveLength(1);
    window().webContents.emit('render-process-gone', {}, { reason: 'clean-exit' });
    expect(reload).toHaveBeenCalledTimes(7);
  } finally {
    vi.useRealTimers();
  }
});

test('a native dialog says what is chosen in it', async () => {
  world.chosen = [];
  await api.choose('model-folder');
  expect(done.choosing.at(-1)).toMatchObject({ title: words.choose['model-folder'], properties: ['openDirectory'] });
  await api.choose('model-file');
  expect(done.choosing.at(-1)).toMatchObject({ filters: [{ name: words.modelFiles, extensions: ['gguf'] }] });
});

test('a second start brings back a window whose page is dead', () => {
  const { webContents } = window();
  webContents.reload.mockClear();
  webContents.crashed = true;
  app.emit('second-instance');
  webContents.crashed = false;
  app.emit('second-instance');
  expect(webContents.reload).toHaveBeenCalledOnce();
});

test('a window that was maximized is shown when its page has something to show, not before', async () => {
  const { createWindow } = await import('../../main/window.ts');
  writeFileSync(
    join(world.userData, 'window.json'),
    JSON.stringify({ bounds: { x: 10, y: 20, width: 900, height: 700 }, maximized: true }),
  );
  world.draws = false;
  const other = createWindow({ preload: '' }) as unknown as InstanceType<typeof BrowserWindow>;
  world.draws = true;
  expect([other.visible, other.maximize.mock.calls.length]).toEqual([false, 0]);
  other.emit('ready-to-show');
  expect([other.visible, other.maximize.mock.calls.length]).toEqual([true, 1]);
  other.emit('closed');
  BrowserWindow.all.splice(BrowserWindow.all.indexOf(other), 1);
});

test('where the window was is kept', async () => {
  window().emit('close');
  expect(JSON.parse(readFileSync(join(world.userData, 'window.json'), 'utf8'))).toMatchObject({
    bounds: { x: 10, y: 20, width: 900, height: 700 },
  });
});

test('the core dies: its engine goes with it, the page is told, and what was saved is there again', async () => {
  const closed = new BrowserWindow({ webPreferences: {} });
  const heard = vi.fn();
  closed.webContents.page.on('port', heard).on('lost', heard);
  electron.ipcMain.emit('connect', { sender: closed.webContents, senderFrame: closed.webContents.mainFrame });
  expect(heard).toHaveBeenCalledTimes(1);
  closed.webContents.emit('destroyed');
  // Nor does one whose page has just died end the app.
  const { webContents: dying } = new BrowserWindow({ webPreferences: {} });
  electron.ipcMain.emit('connect', { sender: dying, senderFrame: dying.mainFrame });
  dying.gone = true;
  const [chat] = await client.call('chats.list', {});
  const before = engines.length;
  const waiting = client.call('engine.devices').catch((error: { code: string }) => error.code);
  await cores.at(-1)?.terminate();
  expect(['core-lost', expect.any(Array)]).toContainEqual(await waiting);
  const again = await vi.waitFor(() => client.call('chats.list', {}), 15_000);
  expect(again).toMatchObject([{ id: chat?.id }]);
  expect(cores).toHaveLength(2);
  await until(() => engines.length > before);
  await until(() => engines.filter((engine) => engine.exitCode === null && engine.signalCode === null).length === 1);
  // A window that was closed is told nothing any more.
  expect(heard).toHaveBeenCalledTimes(1);
});

test('quitting waits until everything is on disk and the engine has ended', async () => {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, sampling: { temperature: 5, topK: 0, topP: 1 } });
  await client.call('turns.send', { chatId: chat.id, text: 'Tell me a long story.' });
  const { event, messageId } = await next(client, 'turn', (one) => one.event.type === 'delta');
  // A window that was moved just now is not closed first.
  rmSync(join(world.userData, 'window.json'), { force: true });
  window().emit('move');
  expect(app.quit()).toBe(true);
  expect(existsSync(join(world.userData, 'window.json'))).toBe(true);
  await until(() => done.exits.length > 0);
  expect(done.exits).toEqual([0]);
  expect(engines.every((engine) => engine.exitCode !== null || engine.signalCode !== null)).toBe(true);
  expect(done.dialogs).toEqual([]);

  const db = openDatabase(join(folder, 'data', 'longhand.db'));
  const kept = getMessage(db, messageId);
  db.close();
  expect(kept.state).toEqual({ status: 'done', reason: 'cancelled' });
  expect(event.type === 'delta' && kept.text.startsWith(event.text)).toBe(true);
});
