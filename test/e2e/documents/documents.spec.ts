import type { Page } from '@playwright/test';
import { setPage, writePdf } from '../../support/documents/paper.ts';
import { makePdf } from '../../support/documents/pdf.ts';
import { ask, begin, expect, finished, rows, test } from '../app.ts';
import { list, openDocuments, pdf, upload, wordsUnder } from './shelf.ts';

//  Documents in the real app: files come in, passages are found, and the marker lies on the right words.

const filler = (page: number) =>
  setPage([
    { text: `Chapter ${page}`, size: 14, bold: true },
    ...Array.from({ length: 6 }, (_, index) => ({
      text: `Entry ${index + 1} of chapter ${page} tells of the weather in the valley, of the harvest, and of the carts on the road to the mill.`,
    })),
  ]);

const almanac = writePdf(
  [
    filler(1),
    filler(2),
    setPage([
      { text: 'The lighthouse of Varn', size: 14, bold: true },
      {
        text: 'The keeper of the lighthouse lights a copper lantern at dusk, and winds the clockwork every four hours.',
      },
      { text: 'In the winter of 1887 the tower stood in ice for nineteen days, and no ship came to the harbour.' },
    ]),
    filler(4),
  ],
  'Almanac of the coast',
);

const harbour = writePdf(
  [
    setPage([{ text: 'The keeper of the lighthouse is Maren Holt. She lights a copper lantern at dusk.' }]),
    setPage([{ text: 'In the winter of 1887 the tower stood in ice for nineteen days.' }]),
  ],
  'The harbour of Varn',
);

/** Its letters have no meaning that is known: only a picture of words. */
const scan = makePdf({ pages: [{ texts: [{ text: 'Letters without a map', x: 60, y: 700, font: 'unmapped' }] }] });
const damaged = Buffer.from('%PDF-1.4\nthis is no file');

const sorted = (text: string) => (text.match(/\S+/g) ?? []).sort();

/** The same question has the same answer. */
async function alwaysTheLikeliest(page: Page): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('0');
}

test.describe('in the app', () => {
  test.beforeEach(async ({ page, app }) => {
    await begin(page, app);
    await openDocuments(page);
  });

  test('a file is added, found by its words, and the marker lies on them', async ({ page, problems }) => {
    await upload(page, pdf('almanac.pdf', almanac));
    await expect(list(page).getByRole('button', { name: /Almanac of the coast/ })).toBeVisible();
    await page.getByRole('textbox', { name: 'Search documents' }).fill('copper lantern');
    const hit = page.locator('[data-hit]').first();
    await expect(hit).toContainText('p. 3');
    await hit.click();
    await expect(page.locator('.paper [data-mark="current"]').first()).toBeVisible();
    await expect(page.locator('[data-page="3"] .textlayer span').first()).toBeAttached();
    await expect.poll(() => wordsUnder(page, 'current')).toBe('copper lantern');
    expect(await wordsUnder(page, 'soft')).toContain('The keeper of the lighthouse lights a');
    await expect(page.getByText('Page 3 of 4')).toBeVisible();
    const viewer = await page.getByRole('region', { name: 'Pages' }).boundingBox();
    const mark = await page.locator('.paper [data-mark="current"]').first().boundingBox();
    if (!viewer || !mark) throw new Error('nothing is marked');
    expect(mark.y - viewer.y).toBeLessThan(viewer.height / 2);
    expect(mark.y).toBeGreaterThan(viewer.y);
    // The marks are those of the words that stand in the field now.
    const search = page.getByRole('textbox', { name: 'Search documents' });
    await search.fill('lighthouse');
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^lighthouse( lighthouse)*$/);
    await search.fill('nothing of that kind');
    await expect(page.locator('.paper [data-mark]')).toHaveCount(0);
    await search.fill('lantern');
    await search.fill('');
    await expect(page.locator('.paper [data-mark]')).toHaveCount(0);
    await page.reload();
    await openDocuments(page);
    await expect(list(page).getByRole('button', { name: /Almanac of the coast/ })).toBeVisible();
    expect(problems).toEqual([]);
  });

  test('larger and searched: marks stay on their words; a page is asked about as a picture', async ({ page }) => {
    await upload(page, pdf('almanac.pdf', almanac));
    await list(page)
      .getByRole('button', { name: /Almanac/ })
      .click();
    await expect(page.locator('[data-page="1"] .textlayer span').first()).toBeAttached();
    await page.getByRole('button', { name: 'Find in text' }).click();
    await page.getByRole('textbox', { name: 'Find in text' }).fill('nineteen');
    await expect(page.getByText('1 of 1')).toBeVisible();
    await expect(page.locator('[data-page="3"]')).toBeVisible();
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Search documents' }).fill('nineteen');
    await page.locator('[data-hit]').first().click();
    await expect.poll(() => wordsUnder(page, 'current')).toBe('nineteen');
    await page.getByRole('button', { name: 'View and file options' }).click();
    await page.getByRole('menuitem', { name: 'Zoom in' }).click();
    await expect.poll(() => wordsUnder(page, 'current')).toBe('nineteen');
    // The page as a picture, in a new chat.
    await page.getByRole('button', { name: 'View and file options' }).click();
    await page.getByRole('menuitem', { name: 'Ask about this page' }).click();
    const tile = page.getByRole('list', { name: 'Attachments' }).getByRole('img');
    await expect(tile).toHaveAttribute('alt', /, page 3\.png$/);
    await expect(page.getByText(/can’t see pictures/)).toBeVisible();
    expect(
      await tile.evaluate(({ naturalWidth, naturalHeight }: HTMLImageElement) => naturalHeight / naturalWidth),
    ).toBeGreaterThan(1.2);
  });

  test('a damaged file says why and holds up nobody; a scan offers what helps', async ({ page }) => {
    await upload(page, pdf('damaged.pdf', damaged), pdf('scan.pdf', scan), pdf('almanac.pdf', almanac));
    const importing = page.getByRole('region', { name: 'Importing' });
    await expect(list(page).getByRole('button', { name: /Almanac/ })).toBeVisible();
    await expect(importing.getByRole('button', { name: 'Skip: damaged.pdf' })).toBeVisible();
    await expect(importing.getByRole('button', { name: 'Recognise text (OCR): scan.pdf' })).toBeVisible();
    await importing.getByRole('button', { name: 'Skip: damaged.pdf' }).click();
    await expect(importing.getByText('damaged.pdf')).toBeHidden();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(importing.getByText('damaged.pdf')).toBeVisible();
    await page.reload();
    await openDocuments(page);
    await expect(importing.getByRole('button', { name: 'Recognise text (OCR): scan.pdf' })).toBeVisible();
  });

  test('collections: made, named, filled, deleted and brought back', async ({ page }) => {
    await page.getByRole('button', { name: 'New collection' }).click();
    await page.getByRole('textbox', { name: 'Collection name' }).fill('Coast');
    await page.keyboard.press('Enter');
    const row = page.getByRole('navigation', { name: 'Collections' }).getByRole('button', { name: /^Coast/ });
    await expect(row).toHaveAttribute('aria-current', 'true');
    await upload(page, pdf('almanac.pdf', almanac));
    await expect(row).toHaveText('Coast1');
    await row.hover();
    await page.getByRole('button', { name: 'Options for “Coast”' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Collection name' }).fill('Shore');
    await page.keyboard.press('Enter');
    const renamed = page.getByRole('navigation', { name: 'Collections' }).getByRole('button', { name: /^Shore/ });
    await renamed.hover();
    await page.getByRole('button', { name: 'Options for “Shore”' }).click();
    await page.getByRole('menuitem', { name: 'Delete collection' }).click();
    await expect(renamed).toBeHidden();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(renamed).toBeVisible();
  });

  test('files dropped on the window ask where they go: a collection, or along with the message', async ({ page }) => {
    const drop = async (target: string) => {
      const data = await page.evaluateHandle(() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(['The mill stands by the river Orla.'], 'mill.txt', { type: 'text/plain' }));
        return transfer;
      });
      await page.dispatchEvent('main', 'dragenter', { dataTransfer: data });
      const dialog = page.getByRole('dialog', { name: 'Add files to…' });
      await dialog.getByRole('listitem').filter({ hasText: target }).dispatchEvent('drop', { dataTransfer: data });
      await expect(dialog).toBeHidden();
    };
    await drop('My documents');
    await expect(list(page).getByRole('button', { name: /mill/ })).toBeVisible();
    await page.keyboard.press('Alt+n');
    await drop('Attach to message');
    await expect(page.getByRole('list', { name: 'Attachments' }).getByText('mill.txt')).toBeVisible();
  });

  test('an answer from a document: its chip leads to the marked words; what is not there is refused; all of it stays', async ({
    page,
    problems,
  }) => {
    test.slow();
    await alwaysTheLikeliest(page);
    await openDocuments(page);
    await upload(page, pdf('harbour.pdf', harbour));
    await list(page)
      .getByRole('button', { name: /harbour/i })
      .click();
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await expect(page.getByRole('button', { name: 'Documents: My documents' })).toBeVisible();
    await ask(page, 'Who is the keeper of the lighthouse?');
    await expect(finished(page)).toBeVisible({ timeout: 60_000 });
    const chip = page.locator('.prose [data-source]').first();
    await chip.click();
    const panel = page.getByRole('complementary', { name: 'Sources' });
    await expect(panel.getByText(/^Page \d of 2$/)).toBeVisible();
    const source = (await panel.locator('[aria-current=true] [data-text]').textContent()) ?? '';
    expect(source).toContain('The keeper of the lighthouse');
    const marked = async () => sorted(`${await wordsUnder(page, 'current')} ${await wordsUnder(page, 'soft')}`);
    await expect.poll(marked).toEqual(sorted(source));
    // The sentence that says it stands below the answer, whatever the model cites; it leads to those words and no others.
    const quote = page.getByRole('button', { name: /^From your documents/ });
    await expect(quote).toContainText('“The keeper of the lighthouse is Maren Holt.”');
    await expect(quote).toContainText('p. 1');
    // The preview of the chip goes with the pointer.
    await page.locator('#composer').hover();
    await expect(page.locator('[data-radix-popper-content-wrapper]')).toHaveCount(0);
    await quote.click();
    await expect(quote).toHaveAttribute('aria-pressed', 'true');
    await expect.poll(() => wordsUnder(page, 'current')).toBe('The keeper of the lighthouse is Maren Holt.');
    await page.getByRole('button', { name: 'Copy', exact: true }).last().click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/\n\n> From the source: “The keeper of the lighthouse is Maren Holt\.” \(.*, p\. 1\)$/);
    await ask(page, 'What did a kilogram of saffron cost in Lisbon?');
    const refusal = page.getByRole('region', { name: 'Not in your documents' });
    await expect(refusal).toBeVisible({ timeout: 60_000 });
    await page.reload();
    await rows(page).first().click();
    await expect(refusal).toBeVisible();
    await expect(chip).toBeVisible();
    await expect(quote).toHaveCount(1);
    await expect(page.getByRole('button', { name: 'Documents: My documents' })).toBeVisible();
    expect(problems).toEqual([]);
  });
});
