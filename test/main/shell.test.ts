import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { getMessage } from '../../app/store/chats/messages.ts';
import { openDatabase } from '../../app/store/database/database.ts';
import { hostRules } from '../../main/security.ts';
import { words } from '../../main/strings.ts';
import { isEnd, next, textOf } from '../support/core/core.ts';
import { api, client, cores, engines, folder, startShell, until, window } from '../support/core/shell.ts';
import * as electron from '../support/fakes/electron.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));

const { app, done, world, BrowserWindow } = electron;

startShell();

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
  expect(done.switches.has('disable-background-networking')).toBe(true);
  expect(done.switches.get('host-resolver-rules')).toBe(hostRules());
  expect(done.switches.get('enable-features')).toBe(process.platform === 'linux' ? 'GlobalShortcutsPortal' : undefined);
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
  expect(await client.call('tokens.list')).toEqual({ sources: ['huggingface'], storedIn: 'keychain' });
  const written = readFileSync(join(folder, 'data', 'tokens.json'), 'utf8');
  expect(written).not.toContain('hf_abc');
  expect(written).toContain(Buffer.from('cba_fh').toString('base64'));
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

test('quitting asks in the middle of an answer, then waits until everything is on disk and the engine has ended', async () => {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, sampling: { temperature: 5, topK: 0, topP: 1, seed: 2 } });
  await client.call('turns.send', { chatId: chat.id, text: 'Tell me a long story.' });
  const { event, messageId } = await next(client, 'turn', (one) => one.event.type === 'delta');
  // A window that was moved just now is not closed first.
  rmSync(join(world.userData, 'window.json'), { force: true });
  window().emit('move');
  world.pressed = 1;
  const closing = { preventDefault: vi.fn() };
  if (process.platform === 'darwin') app.quit();
  else window().emit('close', closing);
  expect(closing.preventDefault).toHaveBeenCalledTimes(process.platform === 'darwin' ? 0 : 1);
  // Asked once, however often it is told to quit meanwhile.
  app.quit();
  await until(() => done.asked.at(-1) === words.quitting.title);
  expect(done.exits).toEqual([]);
  // The system does not wait for an answer to a question.
  electron.powerMonitor.emit('shutdown');
  expect(done.asked.filter((question) => question === words.quitting.title)).toHaveLength(1);
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
