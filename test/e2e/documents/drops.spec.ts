import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { golden } from '../../support/addon.ts';
import { starterFiles } from '../../support/models/models.ts';
import { begin, expect, test } from '../app.ts';
import { dropOn } from '../drag.ts';
import { list, openDocuments } from './shelf.ts';

//  Files that are dropped, by the drag events of Chromium itself: real files, over the window, wherever the pointer is.

const folder = mkdtempSync(join(tmpdir(), 'longhand-drops-'));
const file = (name: string, bytes: string | Uint8Array): string => {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, bytes);
  return path;
};
const weights = readFileSync(join(golden, 'gguf_models', 'qwen35', 'model-mixed.gguf'));
const otter = file('otter.gguf', weights);
const notes = file('notes.txt', 'The mill stands by the river Orla.');
for (const [name, bytes] of Object.entries(starterFiles())) file(`tiny/${name}`, bytes);
const tiny = join(folder, 'tiny');
file('shelf/badger/badger.gguf', weights);
file('shelf/badger/README.md', '# Badger');
file('shelf/papers/harbour.txt', 'The harbour of Varn is deep.');
const shelf = join(folder, 'shelf');
/** As the stores of other programs name a file. */
const hash = file(`sha256-${'b'.repeat(64)}`, weights);

test.beforeEach(async ({ page, app }) => begin(page, app));
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

const openModels = (page: Page) =>
  page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('button', { name: /^Models/ })
    .click();
const installed = (page: Page, name: RegExp) =>
  page.getByRole('list', { name: 'Installed' }).getByRole('button', { name });
const attached = (page: Page) => page.getByRole('list', { name: 'Attachments' });

test.describe('a model is imported', () => {
  test.slow();

  test('dropped anywhere on the page of models; when it is here it is shown', async ({ page, problems }) => {
    await openModels(page);
    await dropOn(page, null, otter);
    await expect(installed(page, /^Tiny Qwen35/)).toBeVisible({ timeout: 60_000 });
    await expect(page.getByRole('complementary', { name: 'About Tiny Qwen35' })).toBeVisible();
    expect(problems).toEqual([]);
  });

  test('dropped on a chat, as the folder of a safetensors model', async ({ page, problems }) => {
    await dropOn(page, 'Attach to message', tiny);
    await expect(installed(page, /^tiny/)).toBeVisible({ timeout: 60_000 });
    await page.keyboard.press('Alt+n');
    await expect(attached(page)).toHaveCount(0);
    expect(problems).toEqual([]);
  });

  test('dropped on a collection of documents', async ({ page, problems }) => {
    await openDocuments(page);
    await dropOn(page, 'My documents', otter);
    await expect(installed(page, /^Tiny Qwen35/)).toBeVisible({ timeout: 60_000 });
    await openDocuments(page);
    await expect(page.getByText('otter.gguf')).toHaveCount(0);
    expect(problems).toEqual([]);
  });

  test('dropped beside the list of places, as a file that a store named by its hash', async ({ page, problems }) => {
    await dropOn(page, null, hash);
    await expect(installed(page, /^Tiny Qwen35/)).toBeVisible({ timeout: 60_000 });
    expect(problems).toEqual([]);
  });

  test('dropped together with a document, which goes where it was dropped', async ({ page, problems }) => {
    await dropOn(page, 'Attach to message', notes, otter);
    await expect(attached(page).getByText('notes.txt')).toBeVisible();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await openModels(page);
    await page.getByRole('radio', { name: /^Installed/ }).click();
    await expect(installed(page, /^Tiny Qwen35/)).toBeVisible({ timeout: 60_000 });
    expect(problems).toEqual([]);
  });

  test('dropped in a folder with others: each part goes where it belongs', async ({ page, problems }) => {
    await openDocuments(page);
    await dropOn(page, 'My documents', shelf);
    await expect(list(page).getByRole('button', { name: /harbour/ })).toBeVisible();
    await expect(page.getByText('README')).toHaveCount(0);
    await openModels(page);
    await page.getByRole('radio', { name: /^Installed/ }).click();
    await expect(installed(page, /^Tiny Qwen35/)).toBeVisible({ timeout: 60_000 });
    expect(problems).toEqual([]);
  });
});

test('a document that is dropped on the models is no model, and the way to the documents is offered', async ({
  page,
}) => {
  await openModels(page);
  await dropOn(page, null, notes);
  await expect(page.getByText(/^notes\.txt is not a model\./)).toBeVisible();
  await page.getByRole('button', { name: 'Add to documents' }).click();
  await expect(list(page).getByRole('button', { name: /notes/ })).toBeVisible();
});

test('a long name never cuts off what a message offers to do', async ({ page }) => {
  await page.setViewportSize({ width: 720, height: 900 });
  const long = file(`${'minutes-of-the-harbour-board-'.repeat(6)}.txt`, 'The harbour of Varn is deep.');
  await page.keyboard.press('Alt+1');
  await dropOn(page, null, long);
  const action = page.getByRole('button', { name: 'Add to documents' });
  await expect(action).toBeVisible();
  const cut = () =>
    action.evaluate((button) => {
      const toast = button.closest('li')?.getBoundingClientRect();
      const { left, right } = button.getBoundingClientRect();
      const inside = toast && left >= toast.left && right <= toast.right && right <= window.innerWidth && left >= 0;
      return !inside || button.scrollWidth > button.clientWidth;
    });
  await expect.poll(cut).toBe(false);
});

test('documents are dropped into a collection, and along with the message', async ({ page }) => {
  await dropOn(page, 'Attach to message', notes);
  await expect(attached(page).getByText('notes.txt')).toBeVisible();
  await dropOn(page, 'My documents', notes);
  await expect(list(page).getByRole('button', { name: /notes/ })).toBeVisible();
});

test('a file that is no model for all its name says so in a sentence, and the file of one part too', async ({
  page,
}) => {
  const broken = file('broken.gguf', 'This is a letter.');
  await openModels(page);
  await dropOn(page, null, broken);
  await expect(page.getByText(/^broken: This is not a model, or it is damaged\./)).toBeVisible();
  expect(await page.locator('body').textContent()).not.toMatch(/\[[a-z.]+\] /);
  await page.keyboard.press('Escape');
  await dropOn(page, null, join(tiny, 'model.safetensors'));
  await expect(page.getByText(/only part of a model/)).toBeVisible();
});
