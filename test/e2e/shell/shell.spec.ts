import type { Page } from '@playwright/test';
import { begin, expect, test } from '../app.ts';

//  The frame around the pages: keys, palette, sidebar, performance, settings.

const press = (page: Page, keys: string) => page.keyboard.press(keys);
const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and commands' });
const chats = (page: Page) => page.getByRole('navigation', { name: 'Chats' });

test('every key that the menu shows acts in the page', async ({ page, scene }) => {
  await scene('chat');
  const sidebar = page.getByRole('complementary', { name: 'Sidebar' });
  await expect(sidebar).toBeVisible();
  await press(page, 'Control+\\');
  await expect(sidebar).toBeHidden();
  await press(page, 'Control+\\');
  await press(page, 'Control+/');
  await expect(page.getByRole('region', { name: 'Shortcuts' })).toBeVisible();
  await press(page, 'Control+,');
  await expect(page.getByRole('region', { name: 'Appearance' })).toBeVisible();
  await press(page, 'Control+Shift+F');
  await expect(palette(page)).toBeVisible();
});

test('keys that were changed are the keys that are shown', async ({ page, scene }) => {
  await scene('chat');
  await page.evaluate(() =>
    window.page.useSettings.getState().set({ keybindings: { palette: 'Mod+P', settings: 'Mod+O' } }),
  );
  await page.getByRole('button', { name: 'Settings', exact: true }).hover();
  await expect(page.getByRole('tooltip')).toContainText('Ctrl+O');
  await press(page, 'Control+p');
  await expect(palette(page)).toBeVisible();
});

test('the palette offers the other chats before anything is typed', async ({ page, scene }) => {
  await scene('chat');
  const current = chats(page).locator('[aria-current=page]');
  const open = (await current.textContent()) ?? '';
  await press(page, 'Control+k');
  await expect(palette(page).getByText('Recent chats')).toBeVisible();
  const rows = palette(page).getByRole('option');
  const title = (await rows.first().textContent()) ?? '';
  expect(title).not.toBe(open);
  await press(page, 'Enter');
  await expect(current).toHaveText(title);
});

test('a message that is found is shown, and its chat is one row', async ({ page, app }) => {
  await begin(page, app);
  for (const text of ['The copper lantern is lit.', 'Is the copper lantern out?']) {
    await page.locator('#composer').fill(text);
    await press(page, 'Enter');
    await expect(page.getByRole('button', { name: 'Stop generating' })).toBeHidden({ timeout: 60_000 });
  }
  await press(page, 'Alt+n');
  await press(page, 'Control+k');
  await page.keyboard.type('copper lantern');
  const found = palette(page)
    .getByRole('option')
    .filter({ hasText: /copper lantern/ });
  await expect(found.filter({ hasText: /\d messages/ })).toHaveCount(1);
  await expect(found).toHaveCount(1);
  await found.click();
  await expect(page.getByText('Is the copper lantern out?', { exact: true }).last()).toBeInViewport();
});

test('the chats are one stop of the Tab key, ↓ leads to the next, and → to the options of a row', async ({
  page,
  scene,
}) => {
  await scene('chat');
  const rows = chats(page).locator('[data-row]');
  await rows.nth(0).focus();
  await press(page, 'ArrowDown');
  await expect(rows.nth(1)).toBeFocused();
  await press(page, 'ArrowRight');
  await expect(page.getByRole('button', { name: /^Options for/ }).nth(1)).toBeFocused();
  await press(page, 'ArrowLeft');
  await expect(rows.nth(1)).toBeFocused();
  await press(page, 'ArrowRight');
  await press(page, 'Enter');
  await expect(page.getByRole('menuitem', { name: 'Rename' })).toBeVisible();
  await press(page, 'Escape');
  await rows.nth(1).focus();
  await press(page, 'Tab');
  await expect(chats(page).locator(':focus')).toHaveCount(0);
});

test('a message with undo is centred over the page, not over the window', async ({ page, scene }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await scene('chat');
  await chats(page).locator('[data-row]').nth(1).press('Delete');
  const toast = page.getByRole('listitem').filter({ hasText: 'Chat deleted' });
  await expect(toast).toBeVisible();
  const offset = () =>
    toast.evaluate((element) => {
      const middle = (box: DOMRect) => box.left + box.width / 2;
      const page = document.querySelector('main')?.getBoundingClientRect();
      return page ? Math.abs(middle(element.getBoundingClientRect()) - middle(page)) : Number.NaN;
    });
  await expect.poll(offset).toBeLessThan(2);
});

test('a benchmark measures the model that is chosen beside its button, and has a stop of its own', async ({
  page,
  scene,
}) => {
  await scene('performance');
  await page.evaluate(() => {
    const [first] = window.page.core.world.models;
    const other = first && { ...first, id: 'other' as never, name: 'Otter 1B' };
    if (other) window.page.useEngine.setState({ models: [first, other] });
  });
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: 'Otter 1B' }).click();
  await page.getByRole('button', { name: 'Run benchmark' }).click();
  await expect(page.getByRole('button', { name: 'Stop benchmark' })).toBeVisible();
  expect(await page.evaluate(() => window.page.core.world.benchmarked)).toEqual(['other']);
  await page.getByRole('button', { name: 'Stop benchmark' }).click();
  await expect(page.getByRole('button', { name: 'Run benchmark' })).toBeVisible();
});

for (const width of [1440, 1024, 720]) {
  test(`benchmarks and their comparison fit a window of ${width} px`, async ({ page, scene }) => {
    await page.setViewportSize({ width, height: 900 });
    await scene('performance-long');
    const table = page.getByRole('region', { name: 'Benchmarks' }).getByRole('table');
    await expect(table).toBeVisible();
    // The button at the end of the header is in the window, at the largest text too.
    for (const textSize of ['larger', 'medium'] as const) {
      await page.evaluate((size) => window.page.useSettings.getState().set({ textSize: size }), textSize);
      await expect(page.getByRole('button', { name: 'Run benchmark' })).toBeInViewport({ ratio: 1 });
    }
    const cut = await table.evaluate((element) => {
      const right = element.parentElement?.getBoundingClientRect().right ?? 0;
      return [...element.querySelectorAll('td')].filter((cell) => cell.getBoundingClientRect().right > right + 1)
        .length;
    });
    expect(cut).toBe(0);
    const rows = page.getByRole('button', { name: /^Compare Qwen/ });
    await rows.nth(0).click();
    await rows.nth(1).click();
    await page.getByRole('button', { name: 'Compare A and B' }).click();
    await expect(page.getByRole('columnheader', { name: 'B vs A' })).toBeVisible();
    const overlapping = await page.locator('main').evaluate((main) => {
      const boxes = [...main.querySelectorAll('header > *, [role=combobox], th, td')]
        .map((element) => element.getBoundingClientRect())
        .filter((box) => box.width > 1);
      const meet = (a: DOMRect, b: DOMRect) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
      return boxes.filter((a, at) => boxes.slice(at + 1).some((b) => meet(a, b))).length;
    });
    expect(overlapping).toBe(0);
  });
}

test('what is typed just before its page is left is kept', async ({ page, app }) => {
  await begin(page, app);
  const section = (name: string) => page.getByRole('button', { name, exact: true });
  await press(page, 'Control+,');
  await section('Chat').click();
  const field = page.getByRole('textbox', { name: 'Instructions for all chats' });
  await field.fill('Answer in one line.');
  await section('Engine').click();
  await page.reload();
  // Keys are heard once the window is there.
  await expect(page.getByRole('complementary', { name: 'Sidebar' })).toBeVisible();
  await press(page, 'Control+,');
  await section('Chat').click();
  await expect(field).toHaveValue('Answer in one line.');
});
