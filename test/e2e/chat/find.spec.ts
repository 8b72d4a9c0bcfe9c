import type { Page } from '@playwright/test';
import { expect, test } from '../app.ts';

//  Find in a chat: what is seen is found, and where it stands it is marked.

async function answer(page: Page, text: string, running = false): Promise<void> {
  await page.waitForFunction(() => window.page.useChat.getState().open !== null);
  await page.evaluate(
    ([words, writing]) => {
      const message = [...(window.page.useChat.getState().open?.messages.values() ?? [])].findLast(
        ({ role }) => role === 'assistant',
      );
      if (!message) throw new Error('[scene] no answer');
      const state = writing ? { status: 'running', turnId: 'turn' as never } : { status: 'done', reason: 'stop' };
      window.page.core.emit('message.changed', { ...message, text: words, state: state as never });
    },
    [text, running] as const,
  );
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Find in this chat' });
const count = (page: Page) => page.getByRole('search').getByRole('status');

/** What is painted, as text. */
const painted = (page: Page, name: 'found' | 'found-current') =>
  page.evaluate((highlight) => [...(CSS.highlights.get(highlight) ?? [])].map((range) => String(range)), name);

async function find(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+f');
  await field(page).fill(words);
}

test('what is seen is found: words over emphasis, code and links, and none of the signs', async ({ page, scene }) => {
  await scene('links');
  await answer(
    page,
    'The **fast** path is [a page](https://example.org/fast) here.\n\n```js\nconst fast = path.fast("the fast path");\n```\n\n1. fast\n2. *pa*th',
  );
  await find(page, 'fast path is a page');
  await expect(count(page)).toHaveText('1 of 1');
  await expect.poll(() => painted(page, 'found-current')).toEqual(['fast path is a page']);
  await field(page).fill('**');
  await expect(count(page)).toHaveText('0 of 0');
  await field(page).fill('example.org');
  await expect(count(page)).toHaveText('0 of 0');
  await field(page).fill('const fast = path');
  await expect(count(page)).toHaveText('1 of 1');
  await expect.poll(() => painted(page, 'found')).toEqual(['const fast = path']);
  await field(page).fill('path');
  await expect(count(page)).toHaveText('1 of 4');
  await expect.poll(() => painted(page, 'found')).toHaveLength(4);
});

test('letters that grow when they are made small do not shift the marks', async ({ page, scene }) => {
  await scene('links');
  await answer(page, 'İİİİ and İstanbul, then the END of it.');
  await find(page, 'end of');
  await expect.poll(() => painted(page, 'found-current')).toEqual(['END of']);
});

/** The place once a scroll has come to its end: a wheel turns over several frames. */
async function still(page: Page, top: () => Promise<number>): Promise<number> {
  let before = await top();
  await expect(async () => {
    await page.waitForTimeout(200);
    const now = await top();
    const moved = now !== before;
    before = now;
    expect(moved).toBe(false);
  }).toPass();
  return before;
}

test('while an answer is written, the reader’s place stays where it is', async ({ page, scene }) => {
  await scene('long');
  await expect(page.locator('#transcript article').last()).toBeVisible();
  await find(page, 'matrix');
  await expect.poll(() => painted(page, 'found-current')).toHaveLength(1);
  const top = () => page.locator('#transcript').evaluate((element) => element.scrollTop);
  await page.locator('#transcript').hover();
  await page.mouse.wheel(0, 900);
  await expect.poll(top).toBeGreaterThan(100);
  const before = await still(page, top);
  for (let words = 1; words <= 12; words += 1) {
    await answer(page, `${'a fixed matrix blurs. '.repeat(words)}`, true);
    await page.waitForTimeout(40);
  }
  await page.waitForTimeout(300);
  expect(Math.abs((await top()) - before)).toBeLessThan(80);
  await expect
    .poll(async () => Number((await count(page).textContent())?.split(' of ')[1]?.replace(/\D/g, '')))
    .toBeGreaterThan(400);
});
