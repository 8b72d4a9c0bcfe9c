import type { Page } from '@playwright/test';
import { type App, ask, begin, expect, finished, test } from '../app.ts';

const title = 'A larger model answers much better';
const offerOn = (page: Page) => page.getByRole('region', { name: title });

async function threeAnswers(page: Page): Promise<void> {
  for (const [at, question] of ['Hello!', 'How are you?', 'Thank you.'].entries()) {
    await expect(offerOn(page)).toBeHidden();
    await ask(page, question);
    await expect(finished(page)).toHaveCount(at + 1);
  }
}

async function offline(page: Page, app: App): Promise<void> {
  await begin(page, app);
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Privacy' }).click();
  await page.getByRole('radiogroup', { name: 'Network' }).getByRole('radio', { name: 'Off' }).click();
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
}

test('after three answers, once: which larger model fits here, and the way to it', async ({ page, app, problems }) => {
  await begin(page, app);
  await threeAnswers(page);
  const offer = offerOn(page);
  await expect(offer).toContainText(/ fits this computer\. It is a download of about [\d.]+\s[GM]B/);
  const [name = ''] = ((await offer.getByRole('status').textContent()) ?? '').split(' fits');
  await offer.getByRole('button', { name: 'Show it' }).click();
  await expect(page.getByRole('radio', { name: 'Catalogue', checked: true })).toBeVisible();
  await expect(page.getByRole('heading', { name, exact: true })).toBeVisible();
  await page.reload();
  await page.getByRole('navigation', { name: 'Chats' }).locator('[data-row]').first().click();
  await ask(page, 'Hello again!');
  await expect(finished(page)).toHaveCount(4);
  await expect(offer).toBeHidden();
  expect(problems).toEqual([]);
});

test('without a network it offers a model file, refuses what is none, and "Not now" is the last word', async ({
  page,
  app,
}) => {
  await offline(page, app);
  await threeAnswers(page);
  const offer = offerOn(page);
  await expect(offer).toContainText('There is no network now');
  await expect(offer.getByRole('button', { name: 'Show it' })).toBeHidden();
  await offer.getByRole('button', { name: 'Add a model file…' }).click();
  await offer.getByRole('textbox', { name: 'Path to a model file or folder' }).fill('/nowhere/model.gguf');
  await offer.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(offer.locator('[aria-invalid=true]')).toBeVisible();
  await offer.getByRole('button', { name: 'Not now' }).click();
  await expect(offer).toBeHidden();
  await ask(page, 'Good-bye!');
  await expect(finished(page)).toHaveCount(4);
  await expect(offer).toBeHidden();
});
