import type { BrowserContext, Page } from '@playwright/test';
import { expect, test } from '../app.ts';

//  What a page does when something goes wrong that nobody waited for, and where keys go.

const plain = (page: Page) => page.getByText('This chat is shown as plain text');

/** Opens the chat in a window of its own, which then ends as by a fault in drawing. */
async function crashIn(context: BrowserContext, address: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(address);
  await expect(page.locator('#transcript .katex').first()).toBeVisible();
  const crashed = page.waitForEvent('crash');
  const session = await context.newCDPSession(page);
  session.send('Page.crash').catch(() => {}); // the page that would answer is gone
  await crashed;
  await page.close();
}

test('a chat that crashed the window twice opens as plain text, and is drawn again when asked', async ({
  page,
  context,
  scene,
}) => {
  await scene('chat');
  const address = page.url();
  await expect(page.locator('#transcript .katex').first()).toBeVisible();
  await page.goto('about:blank');
  await crashIn(context, address);
  await crashIn(context, address);
  const third = await context.newPage();
  await third.goto(address);
  await expect(plain(third)).toBeVisible();
  await expect(third.locator('#transcript')).toContainText('**one matrix of fixed size per head**');
  await expect(third.locator('#transcript .katex')).toHaveCount(0);
  await third.reload();
  await expect(plain(third)).toBeVisible();
  await third.getByRole('button', { name: 'Show formatting' }).click();
  await expect(third.locator('#transcript .katex').first()).toBeVisible();
  await expect(plain(third)).toBeHidden();
});

test('reloading and leaving are no crash', async ({ page, scene }) => {
  await scene('chat');
  for (let time = 0; time < 3; time += 1) {
    await expect(page.locator('#transcript .katex').first()).toBeVisible();
    await page.reload();
  }
  await expect(page.locator('#transcript .katex').first()).toBeVisible();
  await expect(plain(page)).toBeHidden();
});

test('a failure that nobody waited for is told once, and can be closed', async ({ page, scene, problems }) => {
  await scene('chat');
  await expect(page.locator('#composer')).toBeVisible();
  const told = page.getByRole('alert').filter({ hasText: 'This no longer exists' });
  for (let time = 0; time < 2; time += 1)
    await page.evaluate(() => void window.page.useChat.getState().update({ pinned: true }, 'gone' as never));
  await expect(told).toHaveCount(1);
  await told.getByRole('button', { name: 'Close' }).click();
  await expect(told).toHaveCount(0);
  expect(problems).toEqual([]);
});

test('editing an answer takes the focus; Return saves, Escape does not; "select all" takes what is read', async ({
  page,
  scene,
}) => {
  await scene('links');
  const answer = page.locator('article[data-message]').last();
  await answer.hover();
  await answer.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Edit answer' }).click();
  const editor = answer.getByRole('textbox');
  await expect(editor).toBeFocused();
  await editor.fill('Another text.');
  await editor.press('Shift+Enter');
  await expect(editor).toHaveValue('Another text.\n');
  await editor.press('Enter');
  await expect(page.locator('#transcript')).toContainText('Another text.');
  await expect(editor).toBeHidden();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press('Control+a');
  const chosen = await page.evaluate(() => String(window.getSelection()));
  expect(chosen).toContain('Another text.');
  expect(chosen).not.toContain('New chat');
});

test('Return that ends a word of an input method sends, renames and finds nothing', async ({ page, scene }) => {
  await scene('links');
  await expect(page.locator('#composer')).toBeVisible();
  await page.locator('#composer').focus();
  const session = await page.context().newCDPSession(page);
  await session.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 });
  await page
    .locator('#composer')
    .dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true, bubbles: true });
  await expect(page.locator('article[data-message]')).toHaveCount(1);
  await expect(page.locator('#composer')).toHaveValue('にほん');
});

test('a message that no context holds is searched, shortened or answered by another model, and never sent round in circles', async ({
  page,
  scene,
}) => {
  await scene('overflow');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  await page.evaluate(() => {
    const { useChat } = window.page;
    const chatId = useChat.getState().chosen;
    if (chatId === null) throw new Error('[scene] no chat');
    useChat.getState().setDraft('A long text. '.repeat(20_000));
    useChat.setState({ overlay: { kind: 'none' } });
    window.page.useEngine.setState((state) => ({
      models: state.models.map((model) => ({
        ...model,
        description: model.description && { ...model.description, contextLength: 32_768 },
      })),
    }));
    useChat.getState().setOverlay({ kind: 'overflow', chatId, used: 40, draft: 65_000, limit: 32_768, resumes: null });
  });
  // The label of the limit stands over its mark and on no other word, wherever the mark is.
  const label = dialog.getByText('32k', { exact: true });
  await expect(label).toBeVisible();
  const covered = () =>
    label.evaluate((element) => {
      const own = element.getBoundingClientRect();
      const words = [...(element.closest('[role=dialog]')?.querySelectorAll('h2, p, span, label') ?? [])]
        .filter((one) => one !== element && one.childElementCount === 0 && one.textContent?.trim())
        .map((one) => one.getBoundingClientRect());
      const meets = (box: DOMRect) =>
        box.left < own.right && own.left < box.right && box.top < own.bottom && own.top < box.bottom;
      return words.filter(meets).length;
    });
  expect(await covered()).toBe(0);
  await expect(dialog.getByRole('radio', { name: /^Search the text/ })).toBeVisible();
  await expect(dialog.getByRole('radio', { name: /new chat/ })).toHaveCount(0);
  await dialog.getByRole('radio', { name: /^Shorten/ }).click();
  await dialog.getByRole('button', { name: 'Edit the message' }).click();
  await expect(dialog).toBeHidden();
  const selected = () =>
    page.evaluate(() => {
      const field = document.activeElement as HTMLTextAreaElement;
      return field.selectionEnd - field.selectionStart;
    });
  await expect.poll(selected).toBeGreaterThan(100_000);
});
