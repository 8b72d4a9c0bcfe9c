import { realModel } from '../../support/models/real-models.mjs';
import { answers, ask, expect, test, textOf } from '../app.ts';

//  A model of others really looping: SmolLM2 at temperature 0, with nothing done to make it.

test('SmolLM2 goes in circles by itself: the card shows what repeats, and rewinding takes the copies away', async ({
  page,
  app,
}) => {
  test.setTimeout(240_000);
  const path = await realModel('smollm2');
  await page.goto(app.address);
  await page.getByRole('button', { name: 'Choose a model' }).click();
  await page.getByRole('textbox', { name: 'Path to a model file or folder' }).fill(path);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.locator('#composer')).toBeFocused();
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('0');
  await page.getByRole('textbox', { name: 'Maximum answer length' }).fill('160');
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  await expect(page.getByRole('button', { name: /smollm2/i })).toBeVisible();
  await ask(page, 'The heavy engine in the bridge');

  const card = page.getByRole('alert', { name: 'Repeating itself' });
  await expect(card).toBeVisible({ timeout: 120_000 });
  await expect(card).toContainText('The answer was repeating itself');
  await expect(card).toContainText(/The same \d+ tokens came \d+ times in a row/);
  const repeated = (await textOf(card.locator('blockquote'))).slice(0, 20);
  const prose = answers(page).locator('.prose');
  const copies = async () => (await textOf(prose)).split(repeated).length - 1;
  const before = await copies();
  expect(before).toBeGreaterThan(2);
  await card.getByRole('button', { name: 'Rewind and retry' }).click();
  await expect.poll(copies, { timeout: 60_000 }).toBeLessThan(before);
  await expect(page.getByText(/happened twice|Finished|Reached the length/).first()).toBeVisible({ timeout: 120_000 });
});
