import { AxeBuilder } from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';
import { ask, begin, expect, finished, test } from '../app.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Points of a chart may be small: where they stand is what they say (WCAG 2.5.8, as for pins of a map). */
const POINTS = 'button[data-value]';

/** `rules`: these alone, else all. */
const violations = async (page: Page, rules?: string[]) => {
  const axe = new AxeBuilder({ page }).exclude(POINTS);
  const { violations: found } = await (rules ? axe.withRules(rules) : axe.withTags(TAGS)).analyze();
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
};

const sections = ['Appearance', 'Chat', 'Sampling', 'Thinking and loops', 'Tools', 'Storage', 'Engine', 'Shortcuts'];

// The same page in other colours: what else is asked of it has been asked in the first.
for (const [theme, rules] of [['light'], ['dark', ['color-contrast']]] as const) {
  test(`no violation on any page, ${theme}`, async ({ page, app }) => {
    test.slow();
    const wrong = () => violations(page, rules && [...rules]);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.goto(app.address);
    await expect(page.getByRole('heading', { name: 'Longhand is ready' })).toBeVisible();
    expect(await wrong(), 'first start').toEqual([]);
    await begin(page, app);
    expect(await wrong(), 'empty chat').toEqual([]);
    await ask(page, 'What can you do?');
    await expect(finished(page)).toBeVisible();
    expect(await wrong(), 'answer').toEqual([]);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('settings');
    expect(await wrong(), 'palette').toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+,');
    for (const name of sections) {
      await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name, exact: true }).click();
      expect(await wrong(), name).toEqual([]);
    }
  });
}

for (const name of ['chat', 'crash', 'overflow', 'thinking', 'loop', 'tools']) {
  test(`no violation in the scene "${name}"`, async ({ page, scene }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await scene(name);
    await expect(page.locator('#transcript article').last()).toBeAttached();
    await page.waitForTimeout(900);
    expect(await violations(page)).toEqual([]);
  });
}

test('no violation in what a model is worth, in the dialog of a test, and in two models side by side', async ({
  page,
  scene,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await scene('quality');
  await page.getByText('Part by part').last().click();
  expect(await violations(page), 'tab').toEqual([]);
  await page.getByRole('button', { name: 'Test again… Distance from another model' }).click();
  await expect(page.getByRole('region', { name: 'Forecast' })).toBeVisible();
  expect(await violations(page), 'dialog').toEqual([]);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Compare two models…' }).click();
  await page.getByRole('combobox', { name: 'Model A' }).click();
  await page.getByRole('option', { name: 'Qwen3.5 9B' }).click();
  await expect(page.getByRole('rowheader', { name: 'In circles' })).toBeVisible();
  expect(await violations(page), 'comparison').toEqual([]);
});

test('no violation in the chart of an answer and in its table', async ({ page, scene }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await scene('speed');
  await page.getByRole('button', { name: /^Speed of this answer/ }).click();
  await expect(page.getByRole('img', { name: /Chart of tokens per second/ })).toBeVisible();
  expect(await violations(page), 'chart').toEqual([]);
  await page.getByRole('button', { name: 'View as table' }).click();
  await expect(page.getByRole('columnheader', { name: 'tok/s' })).toBeVisible();
  expect(await violations(page), 'table').toEqual([]);
});

test('no violation in the figures, and in the comparison of two benchmarks', async ({ page, scene }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await scene('performance');
  await expect(page.getByText('13% slower')).toBeVisible();
  expect(await violations(page), 'figures').toEqual([]);
  const rows = page.getByRole('button', { name: /^Compare Qwen/ });
  await rows.nth(0).click();
  await rows.nth(1).click();
  await page.getByRole('button', { name: 'Compare A and B' }).click();
  await expect(page.getByText('Decode speed over time')).toBeVisible();
  expect(await violations(page), 'comparison').toEqual([]);
});

test('no violation in the list of branches', async ({ page, scene }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await scene('branches');
  await page.getByRole('button', { name: 'Branches of this chat' }).click();
  await expect(page.getByRole('menuitemradio')).toHaveCount(3);
  // An open menu hides the page behind it, and stands in no region of it.
  const menu = new AxeBuilder({ page }).include('[role=menu]').withTags(TAGS).disableRules('region');
  expect((await menu.analyze()).violations.map(({ id }) => id)).toEqual([]);
});

test('everything can be reached and done by keyboard', async ({ page, app }) => {
  await begin(page, app);
  await page.keyboard.type('Hello.');
  await page.keyboard.press('Enter');
  await expect(finished(page)).toBeVisible();
  await page.keyboard.press('Control+Shift+M');
  await expect(page.getByRole('textbox', { name: 'Search models' })).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+t');
  await expect(page.getByRole('radio', { name: 'Auto' })).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+f');
  await expect(page.getByRole('textbox', { name: 'Find in this chat' })).toBeFocused();
  await page.keyboard.type('Hello');
  await expect(page.getByText(/^1 of \d/)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('#composer')).toBeFocused();
});

test('a key pressed right after a layer was closed is not lost, also while that layer was still opening', async ({
  page,
  scene,
}) => {
  await scene('chat');
  await expect(page.locator('article').first()).toBeVisible(); // a chat that is only being opened closes what is over it
  await page.waitForLoadState('networkidle');
  const find = page.getByRole('textbox', { name: 'Find in this chat' });
  for (let round = 0; round < 8; round++) {
    await page.locator('#composer').focus();
    await page.keyboard.press('Control+Shift+M');
    await expect(page.getByRole('textbox', { name: 'Search models' })).toBeFocused();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+t');
    await expect(page.getByRole('radio', { name: 'Auto' })).toBeFocused();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+f');
    await page.keyboard.type('state');
    await expect(find).toHaveValue('state');
    await page.keyboard.press('Escape');
    await expect(find).toBeHidden();
  }
});

test('closing the find bar and opening the models at once opens them, also where frames come late', async ({
  page,
  scene,
}) => {
  // As on a busy machine: what waits for a frame comes after the next keys.
  await page.addInitScript(() => {
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (run) => frame(() => setTimeout(() => run(performance.now()), 300));
  });
  await scene('chat');
  await expect(page.locator('article').first()).toBeVisible();
  await page.waitForLoadState('networkidle');
  await page.keyboard.press('Control+f');
  await expect(page.getByRole('textbox', { name: 'Find in this chat' })).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+M');
  await page.keyboard.type('qwen');
  await page.waitForTimeout(600);
  await expect(page.getByRole('textbox', { name: 'Search models' })).toHaveValue('qwen');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+f');
  await page.keyboard.press('Escape');
  await expect(page.locator('#composer')).toBeFocused();
});

test('a screen reader hears the answer in sentences, from a region of its own', async ({ page, app }) => {
  await begin(page, app);
  await ask(page, 'What is your name?');
  await expect(finished(page)).toBeVisible();
  await expect(page.getByRole('status', { name: 'Answer for screen readers' })).toContainText('End of the answer.');
  await expect(page.getByRole('log')).toHaveAttribute('aria-live', 'off');
});

test('right to left: the sidebar is on the right, and code stays left to right', async ({ page, scene }) => {
  await scene('chat');
  await expect(page.locator('.codeblock')).toHaveAttribute('dir', 'ltr');
  await page.evaluate(() => {
    document.documentElement.dir = 'rtl';
  });
  const sidebar = await page.getByRole('complementary', { name: 'Sidebar' }).boundingBox();
  expect(sidebar?.x).toBeGreaterThan(1000);
});

const wide = ['documents', 'documents-text', 'documents-collection', 'documents-empty', 'sources', 'not-found'];
const narrow = ['documents', 'sources'];
for (const [width, names] of [
  [1440, wide],
  [720, narrow],
] as const) {
  for (const name of names) {
    test(`no violation in the scene "${name}" at ${width}`, async ({ page, scene }) => {
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 900 });
      await scene(name);
      await page.waitForTimeout(2000);
      expect(await violations(page)).toEqual([]);
    });
  }
}

test('with less motion, of the system or by the setting, nothing moves', async ({ page, scene }) => {
  const moving = () =>
    page.evaluate(() => {
      const running = document.getAnimations().filter((one) => one.playState === 'running').length;
      const duration = getComputedStyle(document.documentElement).getPropertyValue('--duration-slow').trim();
      return { running, still: duration === '1ms' };
    });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await scene('loop');
  await expect(page.getByRole('alert', { name: 'Repeating itself' })).toBeVisible();
  await expect.poll(moving).toEqual({ running: 0, still: true });
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await expect.poll(async () => (await moving()).still).toBe(false);
  await page.evaluate(() => window.page.useSettings.getState().set({ motion: 'reduced' }));
  await expect.poll(moving).toEqual({ running: 0, still: true });
});

test('the largest text in the narrowest window: everything is there, nothing is cut off at the side', async ({
  page,
  scene,
}) => {
  await page.setViewportSize({ width: 720, height: 560 });
  for (const name of ['chat', 'loop', 'crash', 'empty']) {
    await scene(name);
    await page.evaluate(() => window.page.useSettings.getState().set({ textSize: 'larger' }));
    await expect(page.locator('#composer')).toBeInViewport();
    const beyond = () =>
      page.evaluate(
        () =>
          [...document.querySelectorAll('button, textarea, [data-message]')]
            .map((one) => one.getBoundingClientRect())
            .filter(({ left, right, width }) => width > 0 && (left < 0 || right > window.innerWidth + 0.5)).length,
      );
    await expect.poll(beyond, { message: name }).toBe(0);
  }
});

test('the largest text at 1024 px: the gear stays in the sidebar, beside the composer', async ({ page, scene }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await scene('chat');
  await page.evaluate(() => window.page.useSettings.getState().set({ textSize: 'larger' }));
  const sidebar = page.getByRole('complementary', { name: 'Sidebar' });
  const right = async (one: Locator) => {
    const box = await one.boundingBox();
    return (box?.x ?? Number.NaN) + (box?.width ?? 0);
  };
  await expect.poll(() => right(sidebar.getByRole('button', { name: 'Settings', exact: true }))).toBeGreaterThan(0);
  const gear = await right(sidebar.getByRole('button', { name: 'Settings', exact: true }));
  expect(gear).toBeLessThanOrEqual(await right(sidebar));
  expect((await page.locator('#composer').boundingBox())?.x).toBeGreaterThanOrEqual(await right(sidebar));
});
