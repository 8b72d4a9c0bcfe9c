import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { BLOCK } from '../../../app/models/storage/block-map.ts';
import { golden } from '../../support/addon.ts';
import { startHub } from '../../support/fakes/hub.ts';
import { starterFiles } from '../../support/models/models.ts';
import { type App, ask, begin, expect, finished, startApp, test } from '../app.ts';

//  From a search on the hub double to a chat, over a cut and a corruption, and back to the file of another program.

const home = mkdtempSync(join(tmpdir(), 'longhand-ollama-'));
const blob = join(home, 'blobs', `sha256-${'a'.repeat(64)}`);
let app: App;
let hub: Awaited<ReturnType<typeof startHub>>;

/** The folders of Ollama with one model in them. */
function layOutOllama(): void {
  const manifests = join(home, 'manifests', 'registry.ollama.ai', 'library', 'otter');
  for (const folder of [manifests, join(home, 'blobs')]) mkdirSync(folder, { recursive: true });
  const folder = join(golden, 'gguf_models', 'qwen35');
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('mixed.gguf'));
  writeFileSync(blob, readFileSync(join(folder, name)));
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${'a'.repeat(64)}` }];
  writeFileSync(join(manifests, 'latest'), JSON.stringify({ layers }));
}

// One app and one story: what was fetched first is looked at later.
test.describe.configure({ mode: 'serial' });

test.beforeAll(async () => {
  layOutOllama();
  process.env.OLLAMA_MODELS = home;
  hub = await startHub({ files: starterFiles() });
  app = await startApp();
});
test.afterAll(async () => {
  await app.close();
  await hub.stop();
  delete process.env.OLLAMA_MODELS;
  rmSync(home, { recursive: true, force: true });
});

const models = (page: Page) =>
  page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('button', { name: /^Models/ })
    .click();
const tab = (page: Page, name: RegExp) => page.getByRole('radio', { name }).click();
const row = (page: Page, name: RegExp) => page.getByRole('list', { name: 'Installed' }).getByRole('button', { name });

test('search, inspect, fit, download over a cut and a corruption, verify, load, chat, delete, undo, adopt', async ({
  page,
  problems,
}) => {
  test.slow();
  await begin(page, app);

  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Downloads', exact: true }).click();
  const mirror = page.getByRole('textbox', { name: 'Hub mirror' });
  await mirror.fill('no address');
  await mirror.press('Enter');
  await expect(page.locator('[aria-invalid=true]')).toBeVisible();
  await expect(page.getByText('Enter a full web address, such as https://hub.example.org.')).toBeVisible();
  await mirror.fill(hub.url);
  await mirror.press('Enter');
  await expect(page.locator('[aria-invalid=true]')).toHaveCount(0);

  await models(page);
  await tab(page, /^Catalogue/);
  const search = page.getByRole('textbox', { name: 'Search, or paste a link' });
  await search.fill('tiny');
  await search.press('Enter');
  await page.getByRole('button', { name: /^acme\/tiny/ }).click();
  // The first download asks whether the hub may be asked; until then not even a header is.
  const download = page.getByRole('button', { name: 'Download', exact: true });
  await download.click();
  const consent = page.getByRole('dialog', { name: /^Download from 127\.0\.0\.1/ });
  await expect(consent).toBeVisible();
  await consent.getByRole('button', { name: 'Cancel' }).click();
  await expect(consent).toBeHidden();
  expect(hub.seen.bytes).toBe(0);
  await download.click();
  const weights = hub.bytesOf('model.safetensors').length;
  // One a request; what is smaller is not cut.
  hub.faults.cuts.push(...Array.from({ length: 8 }, () => 3 * BLOCK));
  hub.faults.corrupt = { at: Math.floor(weights / 2), times: 1 };
  await consent.getByRole('button', { name: 'Allow and download' }).click();
  await expect(page.getByText(/is ready to use$/)).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('table').getByText('Fits')).toBeVisible();
  // The memory of this machine was measured meanwhile: the forecast has a number.
  await expect(page.getByRole('table').getByRole('cell').nth(4)).toHaveText(/^\d/, { timeout: 30_000 });

  expect(hub.faults).toMatchObject({ cuts: [], corrupt: { times: 0 } });
  const total = Object.values(starterFiles()).reduce((sum, file) => sum + file.length, 0);
  // The file was read a second time to find the wrong block.
  expect(hub.seen.bytes).toBeLessThan(300_000 + total + weights + 20 * BLOCK);

  await tab(page, /^Installed/);
  await row(page, /^acme\/tiny/).click();
  const details = page.getByRole('complementary', { name: /^About acme\/tiny/ });
  await details.getByRole('button', { name: 'Verify files' }).click();
  await expect(details.getByText('The files match the published hashes.')).toBeVisible();
  await details.getByRole('button', { name: 'Load', exact: true }).click();
  await expect(details.getByText('Loaded', { exact: true })).toBeVisible();

  await details.getByRole('button', { name: 'New chat' }).click();
  await ask(page, 'What is your name?');
  await expect(finished(page)).toBeVisible();
  await expect(page.getByRole('button', { name: /acme\/tiny/ }).first()).toBeVisible();

  await models(page);
  await row(page, /^acme\/tiny/).click();
  await details.getByRole('button', { name: /^Delete \(frees/ }).click();
  await expect(row(page, /^acme\/tiny/)).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(row(page, /^acme\/tiny/)).toBeVisible();

  const others = page.getByRole('region', { name: 'From other apps' });
  await expect(others.getByText('otter:latest')).toBeVisible();
  await others.getByRole('listitem').filter({ hasText: 'otter' }).getByRole('button', { name: 'Link' }).click();
  await expect(row(page, /^otter/)).toBeVisible();
  await row(page, /^otter/).click();
  await page.getByRole('button', { name: 'Remove from list', exact: true }).click();
  await expect(row(page, /^otter/)).toHaveCount(0);
  expect(readFileSync(blob).subarray(0, 4).toString()).toBe('GGUF');
  expect(problems).toEqual([]);
});

test('the privacy page tells whom Longhand spoke to; with the network off nothing is asked', async ({ page }) => {
  await page.goto(app.address);
  // Keys are heard once the window is there.
  await expect(page.locator('#composer')).toBeVisible();
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Privacy', exact: true }).click();
  await expect(page.getByText('Your search: tiny')).toBeVisible();
  await expect(page.getByText(/^Download: acme\/tiny/).first()).toBeVisible();
  const { host } = new URL(hub.url);
  await expect(page.getByText(host).first()).toBeVisible();
  await page.getByRole('radio', { name: 'Off', exact: true }).click();
  const asked = hub.seen.requests;
  await models(page);
  await tab(page, /^Catalogue/);
  const search = page.getByRole('textbox', { name: 'Search, or paste a link' });
  await search.fill('anything');
  await search.press('Enter');
  await expect(
    page.locator('li[role=alert]', { hasText: 'Network access is turned off in Settings, Privacy.' }),
  ).toBeVisible();
  expect(hub.seen.requests).toBe(asked);
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Privacy', exact: true }).click();
  await expect(page.getByText('Your search: anything')).toBeVisible();
});

test('settings of one model: a template with its preview, a preset, and everything set back', async ({ page }) => {
  await page.goto(app.address);
  await models(page);
  await row(page, /^Starter/)
    .first()
    .click();
  const more = page.getByRole('button', { name: 'Options for Starter', exact: true });
  await more.click();
  await page.getByRole('menuitem', { name: 'Duplicate as preset' }).click();
  await expect(row(page, /^Starter preset/)).toBeVisible();
  await page.getByRole('button', { name: 'Options for Starter preset' }).click();
  await page.getByRole('menuitem', { name: 'Model settings…' }).click();
  const template = page.getByRole('textbox', { name: 'Chat template' });
  await expect(template).not.toHaveValue('');
  await template.fill('{% for message in messages %}<{{ message.role }}> {{ message.content }}\n{% endfor %}');
  await expect(page.getByText('<user> And through Basel?')).toBeVisible();
  await template.fill('{% for message in %}');
  await expect(page.getByRole('alert').filter({ hasText: '[template]' })).toBeVisible();
  await page.getByRole('button', { name: 'Reset to defaults' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('0.3');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});
