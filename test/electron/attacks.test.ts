import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Attack, CALLS, FRAMES, NAVIGATIONS, PATHS, PERMISSIONS, REQUESTS, WINDOWS } from './attacks.ts';
import type { Desktop } from './desktop.ts';
import { windowTest } from './fixture.ts';
import { opened } from './page.ts';
import { type Shell, startShell } from './shell.ts';

//  A page that does not belong to us any more, in the real window: it gets nowhere, and a server beside it hears nothing.

const heard: string[] = [];
const server = createServer((request, response) => {
  heard.push(`${request.method} ${request.url}`);
  response.end('<title>out</title>');
});
server.on('connection', () => heard.push('a connection'));
const udp = createSocket('udp4').on('message', () => heard.push('a packet'));
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await once(udp.bind((server.address() as AddressInfo).port, '127.0.0.1'), 'listening');
});

let started: Promise<Shell> | null = null;
afterAll(async () => {
  (await started)?.kill();
  server.close();
  udp.close();
});

/** One page for all attacks: what one of them achieved, the next would build on. */
const hostile = (desktop: Desktop): Promise<Shell> => (started ??= startHostile(desktop));

async function startHostile(desktop: Desktop): Promise<Shell> {
  const shell = await startShell(desktop, { env: { LONGHAND_TEST_FRAMES: '1' } });
  await opened(shell);
  await shell.main(`kept.left = [];
    electron.shell.openExternal = async (address) => void kept.left.push(address);
    electron.shell.openPath = async (path) => { kept.left.push(path); return ''; };
    electron.shell.showItemInFolder = (path) => void kept.left.push(path);
    electron.dialog.showOpenDialog = async () => { kept.left.push('a dialog'); return { filePaths: [] }; };`);
  await shell.page('window.untouched = true');
  return shell;
}

/** What each came to: null where it was refused. */
async function tried(shell: Shell, attacks: readonly Attack[]): Promise<Record<string, unknown>> {
  const got: Record<string, unknown> = {};
  for (const [name, code] of attacks) {
    got[name] = await shell.page(`try {
        const came = await (async () => { ${code} })();
        return came === undefined || came === null ? 'came through' : String(came);
      } catch { return null; }`);
    // There and back through the browser's process: what was asked of it has been decided.
    await shell.page(`await fetch('longhand://app/')`);
  }
  return got;
}

/** The page is the one that was there at first, alone, and nothing has left it. */
async function expectUntouched(shell: Shell): Promise<void> {
  expect(await shell.page('return [location.origin + location.pathname, window.untouched, window.ran]')).toEqual([
    'longhand://app/',
    true,
    null,
  ]);
  expect(await shell.main('return electron.BrowserWindow.getAllWindows().length')).toBe(1);
  expect(await shell.main('return kept.left')).toEqual([]);
  expect(heard).toEqual([]);
}

const none = (attacks: readonly Attack[]) => Object.fromEntries(attacks.map(([name]) => [name, null]));

windowTest('the page cannot be left', async ({ desktop }) => {
  const shell = await hostile(desktop);
  await tried(shell, NAVIGATIONS(address()));
  await expectUntouched(shell);
});

windowTest('no window can be opened', async ({ desktop }) => {
  const shell = await hostile(desktop);
  await tried(shell, WINDOWS(address()));
  await expectUntouched(shell);
});

windowTest('nothing can be asked of the network, and nothing runs that was not shipped', async ({ desktop }) => {
  const shell = await hostile(desktop);
  const attacks = REQUESTS(address());
  expect(await tried(shell, attacks)).toEqual(none(attacks));
  await expectUntouched(shell);
});

windowTest('what Chromium itself may ask is refused without the policy of the page', async ({ desktop }) => {
  const shell = await hostile(desktop);
  const asked =
    await shell.main(`return Promise.all(['${address()}/net', 'https://example.org/'].map((url) => new Promise((done) => {
    const request = electron.net.request({ url, session: electron.session.defaultSession });
    request.on('response', ({ statusCode }) => done(statusCode));
    request.on('error', () => done(null));
    request.end();
  })))`);
  expect(asked).toEqual([null, null]);
  await expectUntouched(shell);
});

windowTest('the scheme of the page gives its own files and nothing else', async ({ desktop }) => {
  const shell = await hostile(desktop);
  const inside = await shell.page<string>(`return (await fetch('longhand://app/')).text()`);
  for (const path of PATHS) {
    const got = await shell.page<string>(
      `try { return await (await fetch(${JSON.stringify(path)})).text(); } catch { return ''; }`,
    );
    expect(got === '' || got === inside, path).toBe(true);
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const status = await shell.page(
      `try { return (await fetch('longhand://app/', { method: '${method}' })).status; } catch { return 403; }`,
    );
    expect(status, method).toBe(403);
  }
  await expectUntouched(shell);
});

windowTest('the page has no rights but to put text on the clipboard', async ({ desktop }) => {
  const shell = await hostile(desktop);
  expect(await tried(shell, PERMISSIONS)).toEqual(none(PERMISSIONS));
  await expectUntouched(shell);
});

windowTest('the shell refuses what it does not know, and frames altogether', async ({ desktop }) => {
  const shell = await hostile(desktop);
  expect(await tried(shell, CALLS)).toEqual(none(CALLS));
  expect(await tried(shell, FRAMES)).toEqual(none(FRAMES));
  await expectUntouched(shell);
});

windowTest('a link is opened only when the person says so', async ({ desktop }) => {
  const shell = await hostile(desktop);
  await shell.main(`kept.asked = []; electron.dialog.showMessageBox = async (...args) => {
    kept.asked.push(args[args.length - 1].detail);
    return { response: kept.answer };
  }; kept.answer = 1`);
  await shell.page(`await window.longhand.openExternal('https://example.org/refused')`);
  expect(await shell.main('return [kept.asked, kept.left]')).toEqual([['https://example.org/refused'], []]);
  await shell.main('kept.answer = 0');
  await shell.page(`await window.longhand.openExternal('https://example.org/wanted')`);
  expect(await shell.main('const { left } = kept; kept.left = []; return left')).toEqual([
    'https://example.org/wanted',
  ]);
});
