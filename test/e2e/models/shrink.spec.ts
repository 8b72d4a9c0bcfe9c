// A smaller version of a model, made by clicking: forecast, made, judged, used, deleted; cancelled; made again of itself.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { readingLlama } from '../../support/conversion/reading-llama.ts';
import { ask, begin, expect, finished, test } from '../app.ts';

const models = (page: Page) =>
  page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('button', { name: /^Models/ })
    .click();
const row = (page: Page, name: RegExp) => page.getByRole('list', { name: 'Installed' }).getByRole('button', { name });

async function askFor(page: Page, name: string) {
  await page.getByRole('button', { name: `Options for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Make a smaller version…' }).click();
  const dialog = page.getByRole('dialog', { name: `A smaller version of ${name}` });
  await dialog.getByRole('radio', { name: /^Round to nearest/ }).click();
  return dialog;
}

test('a smaller version is forecast, made, judged, chatted with and deleted', async ({ page, app, problems }) => {
  test.slow();
  await begin(page, app);
  await models(page);
  await row(page, /^Starter/).click();

  const dialog = await askFor(page, 'Starter');
  await expect(dialog.getByText('5 MB instead of 18 MB')).toBeVisible();
  await dialog.getByRole('combobox', { name: 'Size' }).click();
  await page.getByRole('option', { name: /^8 bits/ }).click();
  await expect(dialog.getByText('10 MB instead of 18 MB')).toBeVisible();
  await dialog.getByRole('button', { name: 'Make it smaller' }).click();
  await expect(dialog).toBeHidden();

  const details = page.getByRole('complementary', { name: 'About Starter', exact: true });
  await expect(details.getByText('Starter 8-bit is ready to use')).toBeVisible({ timeout: 60_000 });
  await details.getByRole('button', { name: 'What it cost' }).click();
  const made = page.getByRole('complementary', { name: 'About Starter 8-bit' });
  const card = made.getByRole('region', { name: 'What it cost' });
  await expect(card.getByText('Hardly different')).toBeVisible();
  await expect(card.getByText(/^0\.0\d+ nats per token$/)).toBeVisible();
  await expect(made.getByText('Made by Longhand on this computer.')).toBeVisible();

  await card.getByRole('button', { name: 'Try side by side…' }).click();
  const trial = page.getByRole('dialog', { name: 'Side by side' });
  const [left, right] = [
    trial.getByRole('region', { name: 'Left answer' }),
    trial.getByRole('region', { name: 'Right answer' }),
  ];
  await expect(left.getByRole('combobox')).toHaveText('Starter');
  await expect(right.getByRole('combobox')).toHaveText('Starter 8-bit');
  await trial.getByRole('textbox', { name: 'Ask both models something' }).fill('What is your name?');
  await trial.getByRole('button', { name: 'Ask both' }).click();
  for (const side of [left, right]) {
    await expect(side.getByText(/^Finished, /)).toBeVisible();
    await expect(side.locator('.prose')).not.toBeEmpty();
  }
  await trial.getByRole('button', { name: 'Close' }).click();

  await made.getByRole('button', { name: 'New chat' }).click();
  await ask(page, 'What is your name?');
  await expect(finished(page)).toBeVisible();
  await expect(page.getByRole('button', { name: /Starter 8-bit/ }).first()).toBeVisible();

  await models(page);
  await row(page, /^Starter 8-bit/).click();
  // What was made smaller is asked about before it is made smaller again.
  const again = await askFor(page, 'Starter 8-bit');
  await expect(again.getByText('This model has been made smaller before')).toBeVisible();
  await expect(again.getByRole('button', { name: 'Make it smaller anyway' })).toBeEnabled();
  await again.getByRole('button', { name: 'Cancel' }).click();
  await made.getByRole('button', { name: /^Delete \(frees/ }).click();
  await expect(row(page, /^Starter 8-bit/)).toHaveCount(0);
  expect(problems).toEqual([]);
});

test('the memory of a Llama is shrunk, which is judged before it is offered; other models say why theirs cannot be', async ({
  page,
  app,
  problems,
}) => {
  test.slow();
  const disk = mkdtempSync(join(tmpdir(), 'longhand-llama-'));
  const folder = join(disk, 'Small Llama');
  mkdirSync(folder);
  await readingLlama(folder);
  await begin(page, app);
  await models(page);
  await row(page, /^Starter/).click();
  await page.getByRole('button', { name: 'Options for Starter' }).click();
  const refused = page.getByRole('menuitem', { name: 'Shrink its memory… Only for Llama models' });
  await expect(refused).toBeDisabled();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByRole('textbox', { name: 'Path to a model file or folder' }).fill(folder);
  await page.getByRole('button', { name: 'Use in place' }).click();
  const details = page.getByRole('complementary', { name: 'About Small Llama', exact: true });
  await page.getByRole('button', { name: 'Options for Small Llama' }).click();
  await page.getByRole('menuitem', { name: 'Shrink its memory…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Shrink the memory of Small Llama' });
  await expect(dialog.getByRole('combobox', { name: 'Context memory' })).toContainText('50%');
  await dialog.getByText('Advanced').click();
  await expect(dialog.getByText('8 per head')).toBeVisible();
  await dialog.getByRole('combobox', { name: 'Context memory' }).click();
  await page.getByRole('option', { name: /25%$/ }).click();
  await expect(dialog.getByText('4 per head')).toBeVisible();
  await dialog.getByRole('button', { name: 'Shrink its memory' }).click();

  const made = details.getByRole('region', { name: /^Small Llama latent/ });
  await expect(made.getByText(/nats per token away from the original/)).toBeVisible({ timeout: 60_000 });
  // Neither was trained to chat: each side says so.
  await made.getByRole('button', { name: 'Try side by side…' }).click();
  const trial = page.getByRole('dialog', { name: 'Side by side' });
  await trial.getByRole('textbox').fill('Hello!');
  await trial.getByRole('button', { name: 'Ask both' }).click();
  await expect(trial.getByRole('alert')).toHaveCount(2);
  await trial.getByRole('button', { name: 'Close' }).click();
  await made.getByRole('button', { name: 'What it cost' }).click();
  const card = page
    .getByRole('complementary', { name: 'About Small Llama latent' })
    .getByRole('region', { name: 'What it cost' });
  await expect(card.getByText('64 B, 25% of 256 B')).toBeVisible();
  expect(problems).toEqual([]);
  rmSync(disk, { recursive: true, force: true });
});

test.describe('on a slow computer', () => {
  test.use({ unhurried: true });
  test('what is being made is seen on the page of models too, outlives the page, and is cancelled', async ({
    page,
    app,
    problems,
  }) => {
    test.slow();
    await begin(page, app);
    await models(page);
    await row(page, /^Starter/).click();
    const dialog = await askFor(page, 'Starter');
    await dialog.getByRole('radio', { name: /^Weighted by a text/ }).click();
    await dialog.getByRole('button', { name: 'Make it smaller' }).click();
    const making = page.getByRole('region', { name: 'Making Starter 4-bit' });
    await expect(making.getByRole('progressbar')).toBeVisible();
    await page.goto(app.address);
    await models(page);
    await expect(making.getByRole('status')).toHaveText(/^(Reading a text|Rounding the weights)/);
    await making.getByRole('button', { name: 'Cancel' }).click();
    await expect(making).toBeHidden();
    await expect(row(page, /^Starter/)).toHaveCount(1);
    expect(problems).toEqual([]);
  });
});
