import type { Page } from '@playwright/test';
import { ask, begin, expect, test } from './app.ts';

//  A full context, with the real model: nothing is sent or dropped before the choice, and what is set aside comes back.

const story = 'The old mill by the river was sold in autumn, and its wheel and its ledger went to the harbour. ';
const ended = /^(Finished|Reached the length)/;
const dialog = (page: Page) => page.getByRole('dialog', { name: 'This message does not fit' });

/** Three short turns in a context of 1024 tokens, and a message that does not fit any more. */
async function fill(page: Page): Promise<string> {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Engine', exact: true }).click();
  await page.getByRole('textbox', { name: 'Context size' }).fill('1024');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('0');
  await page.getByRole('textbox', { name: 'Maximum answer length' }).fill('12');
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  for (let turn = 1; turn <= 3; turn++) {
    await ask(page, `${turn}. ${story.repeat(7)}`);
    await expect(page.locator('article')).toHaveCount(2 * turn);
    await expect(page.locator('article').last().getByText(ended)).toBeVisible();
  }
  const text = story.repeat(20).trim();
  await ask(page, text);
  await expect(dialog(page)).toBeVisible();
  return text;
}

test.beforeEach(async ({ page, app }) => begin(page, app));

test('cancelled, the text is back and nothing was sent; set aside, it is sent, and a line brings the rest back', async ({
  page,
  problems,
}) => {
  const text = await fill(page);
  await expect(dialog(page).getByRole('radio', { name: /^Increase the context/ })).toBeChecked();
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('#composer')).toHaveValue(text);
  await expect(page.locator('article')).toHaveCount(6);

  await page.locator('#composer').press('Enter');
  await dialog(page)
    .getByRole('radio', { name: /oldest turns? aside/ })
    .click();
  await dialog(page).getByRole('button', { name: 'Set aside and continue' }).click();
  await expect(page.locator('#composer')).toHaveValue('');
  await expect(page.getByText('The model does not see anything above this line')).toBeVisible();
  await expect(page.locator('article').last().getByText(ended)).toBeVisible();
  await page.reload();
  await page.getByRole('navigation', { name: 'Chats' }).locator('[data-row]').first().click();
  await page.getByRole('button', { name: 'Bring back' }).click();
  await expect(page.getByText('The model sees everything again')).toBeVisible();
  await page.getByRole('button', { name: 'Set aside again' }).click();
  await expect(page.getByText('The model does not see anything above this line')).toBeVisible();
  expect(problems.filter((problem) => !problem.includes('WebSocket'))).toEqual([]);
});

test('a summary can be read and corrected before it stands for the oldest turns', async ({ page }) => {
  await fill(page);
  await dialog(page)
    .getByRole('radio', { name: /^Summarise/ })
    .click();
  await dialog(page).getByRole('button', { name: 'Write summary' }).click();
  const summary = page.getByRole('textbox', { name: 'Summary of the oldest turns' });
  await expect(page.getByRole('button', { name: 'Use and continue' })).toBeEnabled();
  await expect(summary).not.toHaveValue('');
  await summary.fill('A mill was sold.');
  await page.getByRole('button', { name: 'Use and continue' }).click();
  await expect(page.getByText('The model sees a summary of everything above this line')).toBeVisible();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByText('A mill was sold.', { exact: true })).toBeVisible();
});

test('a larger context is made and the message goes on by itself', async ({ page }) => {
  await fill(page);
  await dialog(page)
    .getByRole('button', { name: /^Increase to .* and continue$/ })
    .click();
  await expect(dialog(page)).toBeHidden();
  await expect(page.locator('article').last().getByText(ended)).toBeVisible();
  await expect(page.getByText('The model does not see anything above this line')).toBeHidden();
});
