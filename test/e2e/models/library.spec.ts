import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { golden } from '../../support/addon.ts';
import { starterFiles } from '../../support/models/models.ts';
import { type App, expect, startApp, test } from '../app.ts';
import { dropOn } from '../drag.ts';

//  Models that are here already: brought in by hand, found in another program, measured, and the whole library on another disk
//  that is taken out and put back.

const gguf = join(golden, 'gguf_models', 'qwen35', 'model-mixed.gguf');
const home = mkdtempSync(join(tmpdir(), 'longhand-found-'));
const disk = mkdtempSync(join(tmpdir(), 'longhand-disk-'));
const drive = join(disk, 'drive');
let app: App;

/** The folders of Ollama with one model in them. */
function layOutOllama(): void {
  const manifests = join(home, 'manifests', 'registry.ollama.ai', 'library', 'otter');
  for (const folder of [manifests, join(home, 'blobs')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, 'blobs', `sha256-${'a'.repeat(64)}`), readFileSync(gguf));
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${'a'.repeat(64)}` }];
  writeFileSync(join(manifests, 'latest'), JSON.stringify({ layers }));
}

// One app and one story: what was brought in first is moved later.
test.describe.configure({ mode: 'serial' });

test.beforeAll(async () => {
  layOutOllama();
  mkdirSync(drive);
  process.env.OLLAMA_MODELS = home;
  app = await startApp();
});
test.afterAll(async () => {
  await app.close();
  delete process.env.OLLAMA_MODELS;
  for (const folder of [home, disk]) rmSync(folder, { recursive: true, force: true });
});

const models = async (page: Page) => {
  await page.goto(app.address);
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('button', { name: /^Models/ })
    .click();
};
const row = (page: Page, name: RegExp) => page.getByRole('list', { name: 'Installed' }).getByRole('button', { name });

test('the first window lists the models of other apps, and begins with the one that is chosen', async ({
  page,
  problems,
}) => {
  await page.goto(app.address);
  const card = page.getByRole('region', { name: 'Models you already have' });
  await expect(card.getByText('Ollama')).toBeVisible();
  await expect(card.getByText('1 model, 323 kB')).toBeVisible();
  await card.getByRole('button', { name: 'Choose models' }).click();
  await card.getByRole('button', { name: /^otter:latest/ }).click();
  await expect(page.locator('#composer')).toBeFocused();
  await expect(page.getByRole('button', { name: /otter:latest/ }).first()).toBeVisible();
  await models(page);
  await expect(row(page, /^otter:latest/)).toContainText('linked');
  expect(problems).toEqual([]);
});

test('a folder that is dropped on the page is copied into the library', async ({ page, problems }) => {
  test.slow();
  const dropped = join(disk, 'dropped');
  mkdirSync(dropped);
  for (const [name, bytes] of Object.entries(starterFiles())) writeFileSync(join(dropped, name), bytes);
  await models(page);
  await dropOn(page, null, dropped);
  await expect(page.getByText(/dropped is ready to use$/)).toBeVisible({ timeout: 60_000 });
  await expect(row(page, /^dropped/)).toBeVisible();
  await expect(row(page, /^dropped/)).not.toContainText('linked');
  expect(problems).toEqual([]);
});

test('a file that is chosen is copied; one that is named by its path is used where it is', async ({
  page,
  problems,
}) => {
  test.slow();
  await models(page);
  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByLabel('Choose a file', { exact: true }).setInputFiles({
    name: 'chosen.gguf',
    mimeType: 'application/octet-stream',
    buffer: readFileSync(gguf),
  });
  await expect(page.getByText(/Tiny Qwen35 is ready to use$/)).toBeVisible({ timeout: 60_000 });

  const mine = join(disk, 'mine');
  mkdirSync(mine);
  for (const [name, bytes] of Object.entries(starterFiles())) writeFileSync(join(mine, name), bytes);
  await page.getByRole('button', { name: 'Import' }).click();
  const path = page.getByRole('textbox', { name: 'Path to a model file or folder' });
  await path.fill('/nowhere/model.gguf');
  await page.getByRole('button', { name: 'Use in place' }).click();
  await expect(page.locator('[aria-invalid=true]')).toBeVisible();
  await path.fill(mine);
  await page.getByRole('button', { name: 'Use in place' }).click();
  await expect(page.getByRole('complementary', { name: 'About mine' })).toContainText('Used in place');
  expect(problems).toEqual([]);
});

test('Benchmark measures a model and fills the performance page', async ({ page, problems }) => {
  test.slow();
  await models(page);
  await row(page, /^Starter/).click();
  await page.getByRole('complementary', { name: 'About Starter' }).getByRole('button', { name: 'Benchmark' }).click();
  const benchmarks = page.getByRole('region', { name: 'Benchmarks' });
  await expect(benchmarks.getByRole('rowheader', { name: /^Starter/ })).toBeVisible({ timeout: 120_000 });
  await expect(benchmarks.getByRole('row').first()).toContainText('Decode, tok/s');
  await expect(benchmarks.getByRole('row').nth(1)).toContainText(/\d{2}/);
  expect(problems).toEqual([]);
});

test('the library moves to a drive, which is taken out and put back', async ({ page, problems }) => {
  test.slow();
  await models(page);
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Storage', exact: true }).click();
  const section = page.getByRole('region', { name: 'Models', exact: true });
  await section.getByRole('button', { name: 'Move…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Move models' });
  const path = dialog.getByRole('textbox', { name: /^Path to a folder/ });
  const move = dialog.getByRole('button', { name: 'Move', exact: true });
  await path.fill('not a path');
  await expect(dialog.getByText('Enter a full path')).toBeVisible();
  await expect(move).toBeDisabled();
  await path.fill(join(drive, 'models'));
  await expect(dialog.getByRole('status')).toContainText(join(drive, 'models'));
  await move.click();
  await expect(section.getByText(join(drive, 'models'), { exact: true })).toBeVisible();
  await expect(section.getByRole('progressbar')).toHaveCount(0);
  expect(existsSync(join(drive, 'models', 'blobs'))).toBe(true);

  renameSync(drive, `${drive}-out`);
  await expect(page.getByText('The drive with your models is not connected')).toBeVisible();
  await models(page);
  await expect(row(page, /^dropped/)).toContainText('Drive or folder not available');
  await expect(row(page, /^mine/)).not.toContainText('not available');
  await row(page, /^dropped/).click();
  const about = page.getByRole('complementary', { name: 'About dropped' });
  await expect(about.getByRole('button', { name: 'Load', exact: true })).toBeDisabled();
  await expect(about.getByRole('button', { name: /^Delete/ })).toHaveCount(0);

  renameSync(`${drive}-out`, drive);
  await expect(row(page, /^dropped/)).not.toContainText('not available');
  await about.getByRole('button', { name: 'Load', exact: true }).click();
  await expect(about.getByText('Loaded', { exact: true })).toBeVisible();
  expect(problems).toEqual([]);
});
