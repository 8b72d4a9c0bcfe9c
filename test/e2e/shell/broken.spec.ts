import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { ask, expect, rows, test } from '../app.ts';

//  What cannot be drawn takes nothing else with it: a message, a part of a page, a page, the window. Values that no core
//  sends, put into the store, stand for the fault: what comes from a core is parsed first.

const sound = async (page: Page) => expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);

/** Puts a value of another kind in the place of a field of the first message of that role. */
const breakMessage = (page: Page, role: 'user' | 'assistant', change: object) =>
  page.evaluate(
    ([which, broken]) =>
      window.page.useChat.setState(({ open }) => {
        const message = [...(open?.messages.values() ?? [])].find((one) => one.role === which);
        if (!open || !message) return {};
        const changed = { ...message, ...(broken as object) };
        return { open: { ...open, messages: new Map(open.messages).set(message.id, changed) } };
      }),
    [role, change] as const,
  );

test('a message that cannot be drawn is shown as plain text; the chat goes on, and a later state is drawn', async ({
  page,
  scene,
}) => {
  await scene('chat');
  const article = page.locator('article').first();
  const text = 'Why does the time per token stay flat';
  await expect(article).toContainText(text);
  await breakMessage(page, 'user', { attachments: null });
  await expect(article.getByText('This message could not be displayed properly')).toBeVisible();
  await expect(article).toContainText(text);
  await expect(page.locator('article')).toHaveCount(2);
  await sound(page);
  await article.getByRole('button', { name: 'Copy details' }).click();
  await expect(article.getByRole('button', { name: 'Copied' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^Longhand 0\.1\.0 \(fake\), linux\nTypeError: /);
  expect(copied).toContain('at article');

  await ask(page, 'Are you still there?');
  const answer = page.locator('article', { hasText: 'You said: Are you still there?' });
  // The page follows an answer until it has ended; a click meanwhile may miss what moves under it.
  await expect(answer.getByRole('button', { name: 'Try again' })).toBeVisible();

  await breakMessage(page, 'user', { attachments: [] });
  await article.getByRole('button', { name: 'Try again' }).click();
  await expect(article.getByText('This message could not be displayed properly')).toBeHidden();
  await expect(article).toContainText(text);
});

test('a part of a page that cannot be drawn says so in its place, and can be closed', async ({ page, scene }) => {
  await scene('sources');
  await expect(page.getByRole('list', { name: 'Source list' })).toBeVisible();
  await page.evaluate(() =>
    window.page.useChat.setState(({ open, sources }) => {
      const message = open && sources && open.messages.get(sources.messageId);
      if (!open || !message?.grounding) return {};
      const broken = message.grounding.sources.map((source) => ({ ...source, text: {} as never }));
      const changed = { ...message, grounding: { ...message.grounding, sources: broken } };
      return { open: { ...open, messages: new Map(open.messages).set(message.id, changed) } };
    }),
  );
  const notice = page.getByRole('alert').filter({ hasText: 'This section could not be displayed' });
  await expect(notice).toBeVisible();
  await expect(page.locator('#composer')).toBeVisible();
  await sound(page);
  await notice.getByRole('button', { name: 'Close' }).click();
  await expect(notice).toBeHidden();
});

test('a page that cannot be drawn keeps the draft and leads on; other chats are drawn', async ({ page, scene }) => {
  await scene('chat');
  await page.locator('#composer').fill('Half a thought');
  await page.evaluate(() =>
    window.page.useChat.setState(({ open }) => ({
      open: open && { ...open, chat: { ...open.chat, title: {} as never } },
    })),
  );
  await expect(page.getByRole('heading', { name: 'This page could not be displayed' })).toBeVisible();
  await sound(page);
  await page.getByRole('button', { name: 'Go to chats' }).click();
  await expect(page.getByRole('heading', { name: 'What are you working on?' })).toBeVisible();
  await rows(page).filter({ hasText: 'Why decode speed stays flat' }).click();
  await expect(page.locator('#composer')).toHaveValue('Half a thought');
  await expect(page.locator('article')).toHaveCount(2);
});

test('when nothing can be drawn the window says so, and Reload brings everything back, with the draft', async ({
  page,
  scene,
}) => {
  await scene('empty');
  await page.locator('#composer').fill('Half a thought');
  await page.evaluate(() => window.page.useSettings.setState({ values: null as never }));
  await expect(page.getByRole('heading', { name: 'Longhand could not be displayed' })).toBeVisible();
  await sound(page);
  await page.getByRole('button', { name: 'Reload' }).click();
  await expect(page.locator('#composer')).toHaveValue('Half a thought');
});

test('a chat that cannot be read says so in its place, and is opened by Try again once it can be read', async ({
  page,
  scene,
}) => {
  await scene('chat');
  const chatId = await page.evaluate(async () => {
    const { chosen, choose } = window.page.useChat.getState();
    await choose(null);
    // A message that the page does not understand: the whole answer is refused.
    window.page.world.messages.set('odd' as never, { chatId: chosen } as never);
    return chosen;
  });
  expect(chatId).not.toBeNull();
  await rows(page).filter({ hasText: 'Why decode speed stays flat' }).click();
  const notice = page.getByRole('alert').filter({ hasText: 'This chat could not be opened' });
  const again = page.getByRole('main').getByRole('button', { name: 'Try again' });
  await expect(notice).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(1);
  await expect(page.locator('#composer')).toHaveCount(0);
  await sound(page);
  await again.click();
  await expect(notice).toBeVisible();

  await page.evaluate(() => window.page.world.messages.delete('odd' as never));
  await again.click();
  await expect(notice).toBeHidden();
  await expect(page.locator('article')).toHaveCount(2);
  await expect(page.locator('#composer')).toBeVisible();
});

test('a button above the end that is being pressed stays under the pointer while the answer grows', async ({
  page,
  scene,
}) => {
  await page.setViewportSize({ width: 1024, height: 500 });
  await scene('chat');
  const transcript = page.locator('#transcript');
  const grow = () =>
    page
      .locator('article')
      .last()
      .evaluate((one: HTMLElement) => {
        one.style.paddingBottom = `${Number.parseFloat(one.style.paddingBottom || '0') + 450}px`;
      });
  const distance = () => transcript.evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop);
  const height = () => transcript.evaluate((one) => one.scrollHeight);
  const short = await height();
  await grow();
  await expect.poll(height).toBeGreaterThan(short + 400);
  await expect.poll(distance).toBeLessThan(2);
  // A program scrolls, not a hand: the end is still followed.
  const top = () => transcript.evaluate((one) => one.scrollTop);
  // The list may still learn heights, which brings the end back.
  await expect(async () => {
    await transcript.evaluate((one) => {
      one.scrollTop = 0;
    });
    await page.waitForTimeout(300);
    expect(await top()).toBe(0);
  }).toPass();
  const question = page.locator('article').first();
  await expect(question).toBeInViewport();
  const box = await question.boundingBox();
  if (!box) throw new Error('the question is not on screen');
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  const long = await height();
  await grow();
  await expect.poll(height).toBeGreaterThan(long + 400);
  await page.mouse.up();
  expect((await question.boundingBox())?.y).toBeCloseTo(box.y, 0);
});
