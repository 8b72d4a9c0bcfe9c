import type { Page } from '@playwright/test';
import { ask, begin, expect, finished, rows, test } from '../app.ts';

//  The address says what is on screen: a reload shows it again, back and forward lead through it.

const title = (page: Page) => page.getByRole('banner').or(page.locator('header')).getByRole('heading', { level: 1 });

test('a reload shows the same chat, the same page, the same section', async ({ page, app }) => {
  await begin(page, app);
  await ask(page, 'What is the capital of Sweden?');
  await expect(finished(page)).toBeVisible();
  await expect(page).toHaveURL(/#\/chat\/[^/?]+$/);
  await page.reload();
  await expect(page.locator('article[data-message]').first()).toContainText('What is the capital of Sweden?');
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await expect(page).toHaveURL(/#\/settings\/sampling$/);
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Temperature' })).toBeVisible();
});

test('back and forward lead through chats and pages, and a deleted chat is no dead end', async ({ page, scene }) => {
  await scene('many');
  await expect(rows(page).first()).toBeVisible();
  const current = page.locator('[data-row][aria-current=page]');
  await rows(page).nth(0).click();
  await expect(current).toHaveText('Chat 1');
  await rows(page).nth(1).click();
  await expect(current).toHaveText('Chat 2');
  await page.keyboard.press('Alt+1');
  await expect(page).toHaveURL(/#\/models$/);
  await page.goBack();
  await expect(current).toHaveText('Chat 2');
  await page.goBack();
  await expect(current).toHaveText('Chat 1');
  await page.goForward();
  await expect(current).toHaveText('Chat 2');
  const gone = await page.evaluate(() => {
    const { chats, chosen } = window.page.useChat.getState();
    const other = chats.find(({ title: name }) => name === 'Chat 1');
    if (!other || chosen === null) throw new Error('[scene] no chat');
    return window.page.useChat
      .getState()
      .remove(other.id)
      .then(() => other.id);
  });
  await page.evaluate((id) => {
    window.location.hash = `#/chat/${id}`;
  }, gone);
  await expect(page).toHaveURL(/#\/chat$/);
  await expect(page.locator('#composer')).toBeVisible();
});

test('the panel of sources is in the address, and there again after a reload', async ({ page, scene }) => {
  await scene('sources');
  const panel = page.getByRole('complementary', { name: 'Sources' });
  await expect(panel).toBeVisible();
  await expect(page).toHaveURL(/\?source=[^&]+\.1$/);
  await panel.getByRole('button', { name: 'Close' }).first().click();
  await expect(page).not.toHaveURL(/source=/);
  await expect(title(page)).toBeVisible();
});
