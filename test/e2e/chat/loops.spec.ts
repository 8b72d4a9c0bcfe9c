import type { Page } from '@playwright/test';
import { circling, repetitive } from '../../support/models/circling.ts';
import { answers, ask, begin, card, choose, circle, expect, test, textOf } from '../app.ts';

//  The starter really looping.

/** An answer that is long enough for a dot of the history, the same each time. */
async function tellStory(page: Page): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('0');
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  await ask(page, 'Tell me a story.');
}

test.beforeEach(async ({ page, app }) => begin(page, app));

test('the card shows its evidence; answer now brings the answer, and one line stays', async ({ page, problems }) => {
  await circle(page, 'On');
  await expect(card(page)).toContainText('The thinking was repeating itself');
  await expect(card(page)).toContainText(/The same \d+ tokens came \d+ times in a row/);
  await expect(card(page)).toContainText(/\d+ new.*\d+ repeated.*up to [\d,]+ tokens saved/);
  await choose(page, 'Answer now');
  await expect(
    answers(page)
      .getByText(/came \d+ times in a row/)
      .first(),
  ).toBeVisible();
  await expect.poll(() => textOf(answers(page).locator('.prose:not(.pencil)').first())).not.toBe('');
  expect(await textOf(answers(page))).not.toMatch(/think>/);
  expect(problems).toEqual([]);
});

test('thinking that takes unusually long asks, and answers when that is chosen', async ({ page, problems }) => {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill(String(circling.temperature));
  await page.getByRole('textbox', { name: 'Frequency penalty' }).fill(String(circling.frequencyPenalty));
  await page.getByRole('button', { name: /^Thinking/ }).click();
  await page.getByRole('radiogroup', { name: 'Think before answering' }).getByRole('radio', { name: 'On' }).click();
  await page.getByRole('radiogroup', { name: 'Detect loops' }).getByRole('radio', { name: 'Off' }).click();
  await expect(page.getByRole('switch', { name: 'Ask about long thinking' })).toBeChecked();
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  await ask(page, repetitive);
  await expect(page.getByText(/^[\d,]+ tokens of thinking so far$/)).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('button', { name: 'Think longer' })).toBeVisible();
  await page.getByRole('alert').getByRole('button', { name: 'Answer now' }).click();
  await expect.poll(() => textOf(answers(page).locator('.prose:not(.pencil)').first())).not.toBe('');
  await page.getByRole('button', { name: 'Stop' }).click();
  expect(problems).toEqual([]);
});

test('rewind and retry takes the copies off the screen', async ({ page }) => {
  await circle(page, 'On');
  await choose(page, 'Rewind and retry');
  await expect(answers(page).getByRole('button', { name: 'Show' }).first()).toBeVisible();
  await expect(answers(page).getByText('Rewound.').first()).toBeVisible();
  // It goes on, and comes to an end or to a card that says so.
  await expect(page.getByText(/happened twice|Finished|Reached the length/).first()).toBeVisible();
});

test('keep going asks again later; off for this chat never again', async ({ page }) => {
  await circle(page, 'Off');
  await expect(card(page)).toContainText('The answer was repeating itself');
  await choose(page, 'Keep going');
  await expect(page.getByText(/happened twice|Reached the length/).first()).toBeVisible();
  if (await card(page).isVisible()) await choose(page, 'Off for this chat');
  await expect(page.getByText('Reached the length limit')).toBeVisible();
});

test('a paused turn is still there after a reload, waits, and stops with its reason', async ({ page }) => {
  await circle(page, 'Off');
  await page.reload();
  await page.getByRole('navigation', { name: 'Chats' }).locator('[data-row]').first().click();
  await expect(card(page)).toBeVisible();
  await choose(page, 'Stop');
  await expect(page.getByText('Stopped: repeating itself')).toBeVisible();
});

test('the sparkline opens the chart, by keyboard too, with its table; the page of figures has the answer', async ({
  page,
}) => {
  await tellStory(page);
  const speed = page.getByRole('button', { name: /^Speed of this answer/ });
  await expect(page.getByText('Finished', { exact: true })).toBeVisible();
  await speed.focus();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('region', { name: 'Speed' });
  await expect(panel.getByRole('img', { name: /Chart of tokens per second/ })).toBeVisible();
  await panel.getByRole('button', { name: 'View as table' }).click();
  await expect(panel.getByRole('columnheader', { name: 'tok/s' })).toBeVisible();
  await page.keyboard.press('Alt+3');
  await expect(page.getByRole('heading', { name: 'Performance' })).toBeVisible();
  await expect(page.getByText('last 1 answer')).toBeVisible();
  await page.getByRole('radio', { name: 'Benchmarks', exact: true }).click();
  await expect(page.getByText('No matching runs.')).toBeVisible();
  await page.getByRole('radio', { name: 'Answers', exact: true }).click();
  await page.getByRole('button', { name: /open this answer$/ }).click();
  await expect(answers(page)).toHaveCount(1);
  await expect(answers(page)).toBeInViewport();
});

test('an answer of another branch is shown when its dot is followed', async ({ page }) => {
  await tellStory(page);
  await expect(page.getByText('Finished', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).last().click();
  await expect(page.getByText('2/2')).toBeVisible();
  await expect(page.getByText('Finished', { exact: true })).toBeVisible();
  await page.keyboard.press('Alt+3');
  const dots = page.getByRole('button', { name: /open this answer$/ });
  await expect(dots).toHaveCount(2);
  await dots.first().click();
  await expect(page.getByText('1/2')).toBeVisible();
});

test('a message sent while the card waits says how to go on', async ({ page }) => {
  await circle(page, 'Off');
  await expect(page.getByPlaceholder('Or type what to do next')).toBeVisible();
  await ask(page, 'Leave that.');
  // The card of the first answer goes; the second may go in circles too, the sampling is the same.
  await expect(answers(page)).toHaveCount(2);
  await expect(answers(page).first().getByRole('alert', { name: 'Repeating itself' })).toHaveCount(0);
  await expect(answers(page).first().getByText('Stopped: repeating itself')).toBeVisible();
});

test('a benchmark shows its progress and becomes a row', async ({ page }) => {
  await page.keyboard.press('Alt+3');
  await page.getByRole('button', { name: 'Run benchmark' }).click();
  const progress = page.getByRole('status').filter({ hasText: 'Run' });
  const anyway = page.getByRole('button', { name: 'Run anyway' });
  // A busy machine is named first.
  await expect(progress.or(anyway).first()).toBeVisible();
  if (await anyway.isVisible()) await anyway.click();
  await expect(progress.or(page.getByRole('button', { name: 'Compare Starter' })).first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Compare Starter' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run benchmark' })).toBeVisible();
});
