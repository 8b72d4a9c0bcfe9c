import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { makePdf } from '../../support/documents/pdf.ts';
import { drawPage, scannedPdf } from '../../support/documents/picture.ts';
import { realModel } from '../../support/models/real-models.mjs';
import { begin, expect, test } from '../app.ts';
import { list, openDocuments, pdf, upload, wordsUnder } from './shelf.ts';

//  Documents on their way in, in the real app: what needs a password, a recogniser, a folder or an encoder.

const typed = (text: string, password?: string) =>
  makePdf({ pages: [{ texts: [{ text, x: 72, y: 700, size: 14, font: 'mono' }] }], ...(password && { password }) });

const importing = (page: Page) => page.getByRole('region', { name: 'Importing' });
const inDocuments = (page: Page, name: RegExp) => list(page).getByRole('button', { name });
const search = (page: Page, words: string) => page.getByRole('textbox', { name: 'Search documents' }).fill(words);
const firstHit = (page: Page) => page.locator('[data-hit]').first();

/** "Folders and search" of the only collection of one's own. */
async function openCollection(page: Page): Promise<void> {
  const row = page.getByRole('navigation', { name: 'Collections' }).getByRole('button', { name: /^My documents/ });
  await row.hover();
  await page.getByRole('button', { name: 'Options for “My documents”' }).click();
  await page.getByRole('menuitem', { name: 'Folders and search' }).click();
}

test.beforeEach(async ({ page, app }) => {
  await begin(page, app);
  await openDocuments(page);
});

test('a locked PDF: the wrong password is told, the right one opens it here and in the viewer, and is not kept', async ({
  page,
  problems,
}) => {
  await upload(page, pdf('safe.pdf', typed('The code of the safe is 4711.', 'sesame')));
  await expect(importing(page).getByText('Needs a password')).toBeVisible();
  const unlock = async (password: string) => {
    await importing(page).getByRole('button', { name: 'Unlock: safe.pdf' }).click();
    const dialog = page.getByRole('dialog', { name: 'Unlock “safe.pdf”' });
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Unlock' }).click();
    await expect(dialog).toBeHidden();
  };
  await unlock('open');
  await expect(importing(page).getByText('Wrong password')).toBeVisible();
  await unlock('sesame');
  await expect(inDocuments(page, /safe\.pdf/)).toBeVisible();
  await search(page, 'code');
  await firstHit(page).click();
  // The copy is as it came.
  const viewer = page.getByRole('region', { name: 'safe.pdf' });
  await expect(viewer.getByText('This file is password-protected')).toBeVisible();
  await viewer.getByLabel('Password').fill('open');
  await viewer.getByLabel('Password').press('Enter');
  await expect(viewer.getByText('Wrong password')).toBeVisible();
  await viewer.getByLabel('Password').fill('sesame');
  await viewer.getByLabel('Password').press('Enter');
  await expect.poll(() => wordsUnder(page, 'current')).toBe('code');
  expect(problems).toEqual([]);
});

test('a scanned page is recognised when that is taken, and the mark lies on the picture of the words', async ({
  page,
}) => {
  test.slow();
  const sentence = 'The lighthouse keeper counts forty ships every evening.';
  await upload(page, pdf('scan.pdf', scannedPdf([await drawPage(typed(sentence))])));
  await importing(page).getByRole('button', { name: 'Recognise text (OCR): scan.pdf' }).click();
  await expect(inDocuments(page, /scan\.pdf/)).toBeVisible({ timeout: 60_000 });
  await search(page, 'lighthouse');
  await expect(firstHit(page)).toContainText('lighthouse');
  await firstHit(page).click();
  await expect(page.getByText('The text on page 1 was read from an image (OCR), as English.')).toBeVisible();
  const mark = page.locator('.paper [data-mark="current"]');
  await expect(mark).toHaveCount(1);
  const paper = await page.locator('.paper').boundingBox();
  const box = await mark.boundingBox();
  if (!paper || !box) throw new Error('nothing is marked');
  // "The " is four letters of 8.4 points, "lighthouse" ten, on a page of 595 by 842 points.
  const scale = paper.width / 595;
  expect(Math.abs(box.x - paper.x - (72 + 4 * 8.4) * scale)).toBeLessThan(4 * scale);
  expect(Math.abs(box.width - 10 * 8.4 * scale)).toBeLessThan(6 * scale);
  expect(Math.abs(box.y + box.height / 2 - paper.y - (842 - 705) * scale)).toBeLessThan(8 * scale);
});

test('a photo of words is read as it comes in', async ({ page }) => {
  test.slow();
  const { png } = await drawPage(typed('Fog comes from the north before midnight.'));
  await upload(page, { name: 'photo.png', mimeType: 'image/png', buffer: png });
  await expect(inDocuments(page, /photo\.png/)).toBeVisible({ timeout: 60_000 });
  await search(page, 'midnight');
  await page.evaluate(() => {
    const held = new Set<string>();
    Object.assign(window, { held });
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = (blob) => {
      const address = createObjectURL(blob);
      held.add(address);
      return address;
    };
    URL.revokeObjectURL = (address) => {
      held.delete(address);
      revokeObjectURL(address);
    };
  });
  const heldPictures = () => page.evaluate(() => (window as unknown as { held: Set<string> }).held.size);
  await firstHit(page).click();
  await expect(page.locator('.paper img')).toBeVisible();
  await expect(page.locator('.paper [data-mark="current"]')).toHaveCount(1);
  expect(await heldPictures()).toBe(1);
  await page.keyboard.press('Escape');
  await expect(page.locator('.paper img')).toHaveCount(0);
  // Closed again before its bytes have come.
  for (let times = 0; times < 4; times++)
    await firstHit(page).evaluate((row: HTMLElement) => {
      row.click();
      setTimeout(() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })));
    });
  await page.waitForTimeout(500);
  await expect(page.locator('.paper img')).toHaveCount(0);
  expect(await heldPictures()).toBe(0);
});

test('a watched folder: what is added, changed and removed there follows', async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-watched-'));
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  try {
    put('mill.txt', 'The mill stands by the river Orla.');
    await upload(page, pdf('note.pdf', typed('A first note.')));
    await expect(inDocuments(page, /note\.pdf/)).toBeVisible();
    await openCollection(page);
    const dialog = page.getByRole('dialog', { name: 'My documents' });
    await dialog.getByRole('textbox', { name: 'Folder path' }).fill(join(folder, 'absent'));
    await dialog.getByRole('button', { name: 'Watch', exact: true }).click();
    await expect(dialog.getByText('This no longer exists')).toBeVisible();
    await dialog.getByRole('textbox', { name: 'Folder path' }).fill(folder);
    await dialog.getByRole('button', { name: 'Watch', exact: true }).click();
    await expect(dialog.getByText(folder)).toBeVisible();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await expect(inDocuments(page, /mill\.txt/)).toBeVisible();

    put('bridge.txt', 'The bridge of Orla was closed for repairs.');
    await expect(inDocuments(page, /bridge\.txt/)).toBeVisible({ timeout: 30_000 });
    put('mill.txt', 'The mill was sold and is a brewery of zwickel now.');
    await search(page, 'zwickel');
    await expect(firstHit(page)).toContainText('zwickel', { timeout: 30_000 });
    await search(page, '');
    rmSync(join(folder, 'bridge.txt'));
    await expect(inDocuments(page, /bridge\.txt/)).toBeHidden({ timeout: 30_000 });
    await expect(inDocuments(page, /mill\.txt/)).toBeVisible();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('an encoder is chosen for a collection: words that do not stand in a document find it; back to words alone they do not', async ({
  page,
}) => {
  test.slow();
  const path = await realModel('minilm');
  const animals = 'Cats and other small creatures need no permission. A dog may be kept when the landlord agrees.';
  const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await upload(page, file('lease.txt', animals), file('engine.txt', 'The pump of the engine is oiled every spring.'));
  await expect(inDocuments(page, /lease\.txt/)).toBeVisible();
  await openCollection(page);
  const dialog = page.getByRole('dialog', { name: 'My documents' });
  await expect(dialog.getByText('Searching by words only', { exact: false })).toBeVisible();
  await page.keyboard.press('Escape');
  await search(page, 'hamster');
  await expect(page.getByText('0 passages')).toBeAttached();

  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('button', { name: /^Models/ })
    .click();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('textbox', { name: 'Path to a model file or folder' }).fill(path);
  await page.getByRole('button', { name: 'Use in place' }).click();
  await expect(page.getByRole('textbox', { name: 'Path to a model file or folder' })).toBeHidden({ timeout: 30_000 });

  await openDocuments(page);
  await openCollection(page);
  const select = dialog.getByRole('combobox', { name: 'Search by' });
  await select.click();
  // What ships with the app stands first; the one that was just added can be chosen all the same.
  await expect(page.getByRole('option').nth(1)).toHaveText('all-MiniLM-L6-v2 (built in)');
  await page.getByRole('option').nth(2).click();
  await expect(dialog.getByText('by words and by meaning')).toBeVisible();
  await page.keyboard.press('Escape');
  const found = async () => {
    await search(page, '');
    await search(page, 'hamster');
    await expect(page.getByRole('status').filter({ hasText: 'passage' })).toBeAttached();
    return (await firstHit(page).count()) > 0 ? firstHit(page).textContent() : '';
  };
  await expect.poll(found, { timeout: 60_000 }).toContain('creatures');

  await openCollection(page);
  await select.click();
  await page.getByRole('option', { name: 'Words only' }).click();
  await expect(dialog.getByText('by words and by meaning')).toBeHidden();
  await page.keyboard.press('Escape');
  await expect.poll(found).toBe('');
});

test('words are found in the text of a document that has no pages, one after the other', async ({ page }) => {
  const text = Array.from(
    { length: 300 },
    (_, line) => `Line ${line} tells of the weather${line % 100 === 7 ? ', and of a heron' : ''}.`,
  ).join('\n\n');
  await upload(page, { name: 'diary.md', mimeType: 'text/markdown', buffer: Buffer.from(text) });
  await inDocuments(page, /diary\.md/).click();
  const viewer = page.getByRole('region', { name: 'diary.md' });
  await expect(viewer.getByText('Line 0 tells of the weather.')).toBeVisible();
  await viewer.getByRole('button', { name: 'Find in text' }).click();
  const field = viewer.getByRole('textbox', { name: 'Find in text' });
  await field.fill('HERON');
  await expect(viewer.getByText('1 of 3')).toBeVisible();
  await expect(viewer.getByText('Line 7 tells of the weather, and of a heron.')).toBeVisible();
  await field.press('Enter');
  await expect(viewer.getByText('2 of 3')).toBeVisible();
  await expect(viewer.getByText('Line 107 tells of the weather, and of a heron.')).toBeVisible();
  await field.press('Shift+Enter');
  await expect(viewer.getByText('1 of 3')).toBeVisible();
  await field.press('Shift+Enter');
  await expect(viewer.getByText('3 of 3')).toBeVisible();
  await expect(viewer.getByText('Line 207 tells of the weather, and of a heron.')).toBeVisible();
  await field.fill('no such word');
  await expect(viewer.getByText('0 of 0')).toBeVisible();
  await field.press('Escape');
  await expect(field).toBeHidden();
});
