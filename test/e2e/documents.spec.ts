import type { Locator, Page } from '@playwright/test';
import { setPage, writePdf } from '../support/paper.ts';
import { makePdf } from '../support/pdf.ts';
import { ask, begin, expect, finished, rows, test } from './app.ts';
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

  test('larger, turned dark and searched: marks stay on their words', async ({ page }) => {
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
    expect(copied).toMatch(/\n\n> From your documents: “The keeper of the lighthouse is Maren Holt\.” \(.*, p\. 1\)$/);
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

/** Where an element lies once its page has stopped moving. */
async function settled(element: Locator): Promise<number> {
  let last = Number.NaN;
  await expect(async () => {
    const before = last;
    last = (await element.boundingBox())?.y ?? Number.NaN;
    expect(last).toBe(before);
  }).toPass({ intervals: [100] });
  return last;
}

test.describe('over a core in memory', () => {
  const panel = (page: Page) => page.getByRole('complementary', { name: 'Sources' });

  test('a chip leads to the marked page; the clicked line keeps its height; J and K walk; the mark comes along', async ({
    page,
    scene,
    problems,
  }) => {
    await page.setViewportSize({ width: 1300, height: 900 });
    await scene('sources-long');
    const chip = page.getByRole('button', { name: /^Source 2:/ });
    // A page that is still being laid out may move the chip away from under the pointer.
    await expect(async () => {
      await page.mouse.move(0, 0);
      await chip.hover();
      await expect(page.getByText('What a growing store keeps word for word').first()).toBeVisible({ timeout: 2000 });
    }).toPass();
    // The card is gone and the chip in the middle of the chat, so that the click itself scrolls nothing to reach it.
    await page.mouse.wheel(0, -40);
    await page.mouse.move(0, 0);
    await expect(page.getByText('What a growing store keeps word for word')).toHaveCount(0);
    await chip.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    const before = await settled(chip);
    await chip.click();
    await expect(panel(page).getByText('Page 14 of 62')).toBeVisible();
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^What a growing store keeps .* sums interfere\.$/);
    await page.waitForTimeout(700);
    expect(Math.abs((await settled(chip)) - before)).toBeLessThan(26);
    await expect(chip).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('k');
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^A layer with a recurrent state/);
    await panel(page).getByRole('button', { name: 'Open in Documents' }).click();
    await expect(page.getByRole('heading', { name: 'Documents', level: 1 })).toBeVisible();
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^A layer with a recurrent state/);
    expect(problems).toEqual([]);
  });

  test('sentences that no source bears out say so, to the eye and to the ear', async ({ page, scene }) => {
    await scene('sources-long');
    await expect(page.getByRole('button', { name: 'Not found in the sources' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Only partly supported by source 1' })).toBeVisible();
    await expect(page.getByText('1 sentence was not found in the sources.')).toBeVisible();
    await page.keyboard.press('Alt+j');
    await expect(panel(page)).toBeVisible();
    await page.keyboard.press('Alt+j');
    await expect(panel(page)).toBeHidden();
  });

  test('a window of 1024 px folds the sidebar for the panel and gives it back; at 720 px it lies over the chat', async ({
    page,
    scene,
  }) => {
    const sidebar = page.getByRole('complementary', { name: 'Sidebar' });
    await page.setViewportSize({ width: 1024, height: 768 });
    await scene('sources-long');
    await expect(sidebar).toBeVisible();
    await page.getByRole('button', { name: /^Source 2:/ }).click();
    await expect(panel(page)).toBeVisible();
    await expect(sidebar).toBeHidden();
    await page.getByRole('button', { name: 'Close sources' }).click();
    await expect(sidebar).toBeVisible();
    await page.setViewportSize({ width: 720, height: 900 });
    await page
      .getByRole('button', { name: /^Source 1:/ })
      .first()
      .click();
    await expect(page.getByRole('dialog', { name: 'Sources' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog', { name: 'Sources' })).toBeHidden();
  });

  test('a document that has gone leaves its words', async ({ page, scene }) => {
    await scene('sources-gone');
    await expect(panel(page).getByText('This document has been removed.')).toBeVisible();
    await expect(panel(page).locator('mark')).toContainText('A layer with a recurrent state');
    await page.locator('[data-quote]').click();
    await expect(panel(page).locator('mark')).toHaveText(/^Neither the memory nor the time .* depends on t\.$/);
  });

  test('the quoted words: of a row, from right to left, very long, and hostile ones; each is text and leads to its place', async ({
    page,
    scene,
    problems,
  }) => {
    await scene('quotes');
    const quotes = page.locator('[data-quote]');
    await expect(quotes).toHaveCount(4);
    await expect(quotes.nth(0)).toContainText('8,192 | 0.48 | 0.19');
    await expect(quotes.nth(1).locator('[dir=auto]')).toHaveCSS('direction', 'rtl');
    await expect(quotes.nth(2)).toContainText('<script>alert(1)</script>');
    await expect(quotes.nth(2).locator('b, script')).toHaveCount(0);
    expect((await quotes.nth(2).boundingBox())?.height).toBeLessThan(200);
    await quotes.nth(3).click();
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^Neither the memory nor the time .* depends on t\.$/);
    await expect(quotes.nth(3)).toHaveAttribute('aria-pressed', 'true');
    await quotes.nth(0).click();
    await expect(panel(page).locator('mark[data-mark=current]')).toHaveText(['8,192', '0.48', '0.19']);
    expect(problems).toEqual([]);
  });

  test('nothing sure: the closest sentence is marked, and the answer can be had from it or without', async ({
    page,
    scene,
  }) => {
    await scene('not-found');
    const card = page.getByRole('region', { name: 'Not sure. Closest passage:' });
    await expect(card).toContainText('price of copper in 1912');
    await expect(card.locator('mark')).toHaveText(/^Each token lets .* one new association\.$/);
    await card.getByRole('button', { name: /p\. 31/ }).click();
    await expect(panel(page).getByText('Page 31 of 62')).toBeVisible();
    await card.locator('[data-closest]').click();
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^Each token lets .* one new association\.$/);
    await card.getByRole('button', { name: 'Answer without documents' }).click();
    await expect(page.getByRole('img', { name: /2 of 2/ })).toBeVisible();
  });

  test('an answer that names no source has chips behind the sentences that stand in one', async ({ page, scene }) => {
    await scene('uncited');
    const answer = page.locator('.prose').last();
    await expect(answer.getByRole('button', { name: /^Source 1/ })).toBeVisible();
    await expect(answer).toHaveText(/fixed size\. 1 It costs the same at every position\. 2 Most/);
    await expect(page.getByText('This answer cites no source.')).toHaveCount(0);
    await answer.getByRole('button', { name: /^Source 1/ }).click();
    await expect(panel(page).getByText('Page 14 of 62')).toBeVisible();
  });

  test('words that were found stand alone when the model denies them', async ({ page, scene }) => {
    await scene('denied');
    await expect(page.locator('[data-quote]')).toContainText('Neither the memory nor the time');
    await expect(page.getByText('I could not find that')).toHaveCount(0);
    await expect(page.getByText(/This sentence fits your question best/).first()).toBeVisible();
    await expect(page.getByText(/not found in the sources/)).toHaveCount(0);
  });

  test('a row begins with the name of its file, and each document that was found shows its best passage', async ({
    page,
    scene,
  }) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await scene('documents');
    const rows = page.locator('[data-documents] [data-row]');
    const notes = rows.filter({ hasText: 'Notes on recall.docx' });
    await expect(notes).toHaveText(/^Notes on recall\.docxtoday.*Notes on recall, draft 3.*Word, 21 pages/);
    // The title that only repeats the name of the file stands once.
    await expect(rows.filter({ hasText: 'Benchmarks 2026' })).toHaveText(/^Benchmarks 2026\.xlsxtodaySpreadsheet/);
    const hits = page.locator('[data-documents] [data-hit]');
    await expect(hits.filter({ hasText: 'A state of fixed size against a store' })).toBeVisible();
    await expect(hits.filter({ hasText: 'keeps as a sum' })).toBeVisible();
  });

  test('the panel shows the column of the passage, as large as it fits; the whole page is one click away', async ({
    page,
    scene,
  }) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await scene('sources');
    const paper = panel(page).locator('[data-page="14"]');
    const width = async () => (await paper.boundingBox())?.width ?? 0;
    const box = (await panel(page).boundingBox())?.width ?? 0;
    await expect(paper).toBeVisible();
    await expect.poll(width).toBeGreaterThan(box);
    const inView = () =>
      panel(page).evaluate((element) => {
        const { left, right } = element.getBoundingClientRect();
        const marks = [...element.querySelectorAll('[data-mark]')].map((mark) => mark.getBoundingClientRect());
        return marks.length > 0 && marks.every((mark) => mark.left >= left && mark.right <= right);
      });
    await expect.poll(inView).toBe(true);
    await panel(page).getByRole('button', { name: 'Fit page' }).click();
    await expect.poll(width).toBeLessThan(box);
    await panel(page).getByRole('button', { name: 'Fit column' }).click();
    await expect.poll(width).toBeGreaterThan(box);
    await expect.poll(inView).toBe(true);
  });

  test('the viewer fits the column that is read, without a passage too', async ({ page, scene }) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await scene('documents');
    const paper = page.locator('section[aria-label="Pages"] [data-page], [data-page]').first();
    await expect(paper).toBeVisible();
    const width = async () => (await paper.boundingBox())?.width ?? 0;
    const whole = await width();
    await page.getByRole('button', { name: 'View and file options' }).click();
    await page.getByRole('menuitem', { name: 'Fit column' }).click();
    await expect.poll(width).toBeGreaterThan(whole * 1.05);
    await page.getByRole('button', { name: 'View and file options' }).click();
    await page.getByRole('menuitem', { name: 'Fit width' }).click();
    await expect.poll(width).toBe(whole);
  });

  test('ten thousand documents: a few rows are drawn, and the keys walk through them', async ({ page, scene }) => {
    await scene('documents-many');
    const rows = page.locator('[data-documents] [data-row]');
    await expect(rows.first()).toBeVisible();
    expect(await rows.count()).toBeLessThan(60);
    await rows.first().focus();
    for (let at = 0; at < 5; at += 1) await page.keyboard.press('ArrowDown');
    await expect(rows.nth(5)).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(rows.nth(5)).toHaveAttribute('aria-current', 'true');
    await expect(rows.nth(5)).toBeFocused();
  });
});
