import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { test as base, type ConsoleMessage, type Locator, type Page } from '@playwright/test';
import { contentPolicy } from '../../app/server/static-files.ts';
import type { PageTools } from '../renderer/page/main.tsx';
import { circling, repetitive } from '../support/models/circling.ts';

const root = join(import.meta.dirname, '..', '..');

export type App = {
  /** A new one each time it is read: each lets one page in. */
  readonly address: string;
  /** Process ids: of the engine, and of the host with the core. */
  engine(): number;
  host(): number;
  /** Ends the host without a word, and starts it again on the same data folder. */
  killAndRestart(): Promise<void>;
  /** Ends the host without a word. */
  kill(): void;
  close(): Promise<void>;
};

/** The browser host with a data folder of its own, as `npm start` runs it. */
export async function startApp(env: Record<string, string> = {}, entry = 'app/server/main.ts'): Promise<App> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'longhand-e2e-'));
  let child = run(entry, dataFolder, env, ['--port', '0']);
  await addressOf(child);
  const app: App = {
    get address() {
      return execFileSync(process.execPath, [join(root, 'test', 'support', 'core', 'fresh-address.ts'), dataFolder], {
        encoding: 'utf8',
      });
    },
    engine() {
      const [pid] = execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' })
        .trim()
        .split('\n');
      return Number(pid);
    },
    async killAndRestart() {
      child.kill('SIGKILL');
      await once(child, 'exit');
      child = run(entry, dataFolder, env);
      await addressOf(child);
    },
    host: () => child.pid as number,
    kill: () => void child.kill('SIGKILL'),
    async close() {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
      child.kill('SIGTERM');
      await ended;
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
  return app;
}

const run = (entry: string, dataFolder: string, env: Record<string, string>, args: string[] = []) =>
  spawn(process.execPath, [join(root, entry), '--data', dataFolder, '--no-open', ...args], {
    cwd: root,
    // Every host would read the manual for its encoder, and begin with the assistant; tests of these choose them.
    env: { ...process.env, LONGHAND_EMBEDDING: 'off', LONGHAND_ASSISTANT: 'off', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += String(chunk);
      const address = /http:\S+/.exec(text)?.[0];
      if (address) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`[host] ended with ${code} before it was ready: ${text}`)));
  });
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

/** The page over a core in memory, with the policy of the real host. */
async function servePage(): Promise<{ server: Server; address: string }> {
  const folder = join(root, '.cache', 'renderer-page');
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    const file = path === '/' ? 'index.html' : path;
    try {
      const body = readFileSync(join(folder, file));
      const type = types[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': contentPolicy() }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

type Fixtures = { unhurried: boolean; app: App; problems: string[]; scene: (name: string) => Promise<Page> };

export const test = base.extend<Fixtures>({
  /** The engine computes without vectors: however fast the machine, an answer is written for some twenty seconds. */
  unhurried: [false, { option: true }],
  app: async ({ unhurried }, use) => {
    const app = await startApp(unhurried ? { LONGHAND_CPU_ISA: 'scalar' } : {});
    await use(app);
    await app.close();
  },
  /** What the browser complained about. */
  problems: async ({ page }, use) => {
    const problems: string[] = [];
    const onError = (error: Error) => problems.push(error.message);
    const onConsole = (message: ConsoleMessage) => {
      if (message.type() === 'error' && !message.location().url.includes('favicon')) problems.push(message.text());
    };
    page.on('pageerror', onError).on('console', onConsole);
    await use(problems);
    page.off('pageerror', onError).off('console', onConsole);
  },
  /** Opens a scene of the page over a core in memory. */
  scene: async ({ page }, use) => {
    const { server, address } = await servePage();
    await use(async (name) => {
      await page.goto('about:blank');
      await page.goto(`${address}/?scene=${name}`);
      await page.waitForFunction(() => 'page' in window);
      return page;
    });
    // What it still loads would otherwise fail in the next test, where they share the page.
    if (!page.isClosed()) await page.goto('about:blank');
    server.closeAllConnections();
    server.close();
  },
});

/** For files that only open scenes. A core in memory keeps nothing, so they may follow each other in one page, whose process
 *  has the code compiled; what the page keeps of its own is cleared. */
export const sceneTest = test.extend<object, { shared: Page }>({
  shared: [
    async ({ browser }, use) => {
      const page = await browser.newPage({ locale: 'en-GB' });
      await page.addInitScript(() => location.protocol !== 'about:' && localStorage.clear());
      await use(page);
      await page.close();
    },
    { scope: 'worker' },
  ],
  page: async ({ shared, viewport }, use) => {
    if (viewport) await shared.setViewportSize(viewport);
    await shared.emulateMedia({ colorScheme: null, reducedMotion: null });
    await use(shared);
  },
});

export type { PageTools };
export const expect = base.expect;

export const textOf = async (place: Locator): Promise<string> => (await place.textContent()) ?? '';

/** From the first window to an empty chat. */
export async function begin(page: Page, app: App): Promise<void> {
  await page.goto(app.address);
  await page.getByRole('button', { name: 'Start chatting', exact: true }).click();
  await expect(page.locator('#composer')).toBeFocused();
}

export async function ask(page: Page, text: string): Promise<void> {
  await page.locator('#composer').fill(text);
  await page.keyboard.press('Enter');
}

export const answers = (page: Page) => page.locator('article[data-message]:has(.prose)');
export const finished = (page: Page) => page.getByText('Finished', { exact: true });
export const rows = (page: Page) => page.getByRole('navigation', { name: 'Chats' }).locator('[data-row]');

/** A small model ends its answers soon. So hot, it hardly finds an end; with this seed it writes more than 5,100 tokens to
 *  "Go on for ever." and to "First.", if nothing was said before. */
export async function neverEnd(page: Page, longestAnswer = 6000): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('5');
  await page.getByRole('textbox', { name: 'Top K' }).fill('0');
  await page.getByRole('textbox', { name: 'Top P' }).fill('1');
  await page.getByRole('textbox', { name: 'Maximum answer length' }).fill(String(longestAnswer));
  await page.getByRole('textbox', { name: 'Seed' }).fill('20');
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  await expect(page.locator('#composer')).toBeFocused();
}

/** The card of an answer that goes in circles, and a choice on it. */
export const card = (page: Page) => page.getByRole('alert', { name: 'Repeating itself' });
export const choose = (page: Page, name: string) => card(page).getByRole('button', { name }).click();

/** The model in a loop. */
export async function circle(page: Page, thinks: 'On' | 'Off'): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill(String(circling.temperature));
  await page.getByRole('textbox', { name: 'Frequency penalty' }).fill(String(circling.frequencyPenalty));
  await page.getByRole('textbox', { name: 'Maximum answer length' }).fill('700');
  await page.getByRole('button', { name: /^Thinking/ }).click();
  await page.getByRole('radiogroup', { name: 'Think before answering' }).getByRole('radio', { name: thinks }).click();
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  await ask(page, repetitive);
  await expect(card(page)).toBeVisible();
}
