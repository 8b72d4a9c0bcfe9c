import type { Page } from '@playwright/test';
import { expect, rows, test, textOf } from '../app.ts';

//  Keys on a machine that has little time for the page: every one counts, however late the rows are drawn.

/** The page computes this many times slower, as beside other work. */
async function slow(page: Page, times: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: times });
}

/** All at once: none waits for what the one before it did. */
const pressAll = (page: Page, keys: readonly string[]) => Promise.all(keys.map((key) => page.keyboard.press(key)));
const times = (count: number, key: string): string[] => Array.from({ length: count }, () => key);

const focused = (page: Page) => textOf(page.locator(':focus'));

test('sixty arrow keys, none of which waits for a row, go sixty chats down, and as many up', async ({
  page,
  scene,
}) => {
  test.slow();
  await scene('many');
  await expect(rows(page).first()).toBeVisible();
  await rows(page).first().focus();
  await slow(page, 12);
  await pressAll(page, times(60, 'ArrowDown'));
  await expect.poll(() => focused(page)).toBe('Chat 61');
  await pressAll(page, [...times(200, 'ArrowDown'), ...times(100, 'ArrowUp')]);
  await expect.poll(() => focused(page)).toBe('Chat 161');
  await pressAll(page, ['End', ...times(3, 'ArrowUp')]);
  await expect.poll(() => focused(page)).toBe('Chat 997');
  await pressAll(page, ['Home', ...times(4, 'ArrowDown')]);
  await expect.poll(() => focused(page)).toBe('Chat 5');
});

test('Return right behind the arrows opens the chat that they went to', async ({ page, scene }) => {
  await scene('many');
  await expect(rows(page).first()).toBeVisible();
  await rows(page).first().focus();
  await slow(page, 12);
  await pressAll(page, [...times(120, 'ArrowDown'), 'Enter']);
  await expect(page.locator('[data-row][aria-current=page]')).toHaveText('Chat 121');
});

test('Tab stops once in the list of chats, at the row that was active last', async ({ page, scene }) => {
  await scene('many');
  await expect(rows(page).first()).toBeVisible();
  const stops = () => page.getByRole('navigation', { name: 'Chats' }).locator('[data-row][tabindex="0"]');
  await expect(stops()).toHaveCount(1);
  await rows(page).first().focus();
  await pressAll(page, times(7, 'ArrowDown'));
  await expect.poll(() => focused(page)).toBe('Chat 8');
  await expect(stops()).toHaveText(['Chat 8']);
});

test('the list of documents loses no key either, and opens what the keys went to', async ({ page, scene }) => {
  test.slow();
  await scene('documents-many');
  await expect(page.locator('[data-documents] [data-row]').first()).toBeVisible();
  await page.locator('[data-documents] [data-row]').first().focus();
  await slow(page, 12);
  await pressAll(page, times(60, 'ArrowDown'));
  await expect.poll(() => focusedIndex(page)).toBe(60);
  await pressAll(page, [...times(100, 'ArrowDown'), 'Enter']);
  await expect.poll(() => focusedIndex(page)).toBe(160);
  await expect(page.locator(':focus')).toHaveAttribute('aria-current', 'true');
});

/** The place of the focused row among all rows of the list, by its distance from the first. */
const focusedIndex = (page: Page) =>
  page.evaluate(() => {
    const row = document.activeElement?.closest<HTMLElement>('[data-row]');
    const list = row?.closest('[data-documents]');
    if (!row || !list) return null;
    const top = row.getBoundingClientRect().top - list.getBoundingClientRect().top + list.scrollTop;
    return Math.round((top - 4) / row.getBoundingClientRect().height);
  });

test('the palette takes every arrow and Return, however fast they come', async ({ page, scene }) => {
  await scene('many');
  await page.keyboard.press('Control+Shift+F');
  await expect(page.getByRole('option').first()).toBeVisible();
  await slow(page, 12);
  await pressAll(page, [...times(5, 'ArrowDown'), 'Enter']);
  await expect(page.locator('[data-row][aria-current=page]')).toHaveText('Chat 6');
});
