import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../app.ts';
import { wordsUnder } from './shelf.ts';

//  Sources of an answer and the viewer, over a core in memory.

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
    await settled(chip);
    // The height it has when it is clicked: until then the list may still learn how long its messages are.
    const before = chip.evaluate(
      (element) =>
        new Promise<number>((clicked) =>
          element.addEventListener('click', () => clicked(element.getBoundingClientRect().y), {
            once: true,
            capture: true,
          }),
        ),
    );
    await chip.click();
    await expect(panel(page).getByText('Page 14 of 62')).toBeVisible();
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^What a growing store keeps .* sums interfere\.$/);
    await page.waitForTimeout(700);
    expect(Math.abs((await settled(chip)) - (await before))).toBeLessThan(26);
    await expect(chip).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('k');
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^A layer with a recurrent state/);
    await panel(page).getByRole('button', { name: 'Open in Documents' }).click();
    await expect(page.getByRole('heading', { name: 'Documents', level: 1 })).toBeVisible();
    await expect.poll(() => wordsUnder(page, 'current')).toMatch(/^A layer with a recurrent state/);
    expect(problems).toEqual([]);
  });

  test('a file that changes while the viewer is still starting causes no error', async ({ page, scene, problems }) => {
    // The code of pdf.js's worker comes when it is let go: until then none has started.
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    await page.route(/pdf\.worker/, async (route) => {
      await letGo;
      await route.continue();
    });
    await scene('sources-long');
    // It changes while its first bytes are on their way.
    await page.evaluate(() => {
      const { files, documents } = window.page.world.library;
      const read = files.get.bind(files);
      files.get = (id) => {
        const document = documents.get(id);
        if (document) window.page.core.emit('document.changed', document);
        return read(id);
      };
    });
    const asked = page.waitForRequest(/pdf\.worker/);
    await page.getByRole('button', { name: /^Source 2:/ }).hover();
    await asked;
    resolve();
    await page.waitForTimeout(1000);
    await expect(page.getByText('Something went wrong in Longhand.')).toHaveCount(0);
    // What pdf.js throws in its worker stays there.
    expect(problems.filter((problem) => problem !== 'Worker was terminated')).toEqual([]);
  });

  test('J and K walk where the passages are, and are letters everywhere else', async ({ page, scene }) => {
    await page.setViewportSize({ width: 1300, height: 900 });
    await scene('sources-long');
    await page.keyboard.press('Alt+j');
    const current = panel(page).locator('[aria-current=true]');
    await expect(current).toBeVisible();
    const first = (await current.textContent()) ?? '';
    await page
      .getByRole('navigation', { name: 'New chat and search' })
      .getByRole('button', { name: /^New chat/ })
      .focus();
    await page.keyboard.press('j');
    await expect(current).toHaveText(first);
    await page.locator('#composer').focus();
    await page.keyboard.press('j');
    await expect(page.locator('#composer')).toHaveValue('j');
    await expect(current).toHaveText(first);
    await current.focus();
    await page.keyboard.press('j');
    await expect(current).not.toHaveText(first);
    await page.keyboard.press('k');
    await expect(current).toHaveText(first);
  });

  test('the panel listens to keys once, however often the answer beside it changes', async ({ page, scene }) => {
    await page.setViewportSize({ width: 1300, height: 900 });
    await scene('sources-long');
    await page.keyboard.press('Alt+j');
    await expect(panel(page)).toBeVisible();
    const added = await page.evaluate(async () => {
      let count = 0;
      const listen = window.addEventListener;
      window.addEventListener = function (this: Window, ...args: unknown[]) {
        if (args[0] === 'keydown') count++;
        return (listen as (...all: unknown[]) => void).apply(this, args);
      } as typeof window.addEventListener;
      for (let at = 0; at < 20; at++) {
        window.page.useChat.setState(({ open, sources }) => {
          const message = open && sources && open.messages.get(sources.messageId);
          if (!open || !message) return {};
          const changed = { ...message, text: `${message.text} ` };
          return { open: { ...open, messages: new Map(open.messages).set(message.id, changed) } };
        });
        await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)));
      }
      window.addEventListener = listen;
      return count;
    });
    expect(added).toBe(0);
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
    await expect(page.getByText(/This sentence matches your question best/).first()).toBeVisible();
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
    await expect(notes.locator('svg')).toHaveCount(1);
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
