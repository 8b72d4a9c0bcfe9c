import { answers, ask, begin, card, choose, circle, expect, neverEnd, rows, test, textOf } from '../app.ts';

//  Leaving a chat changes nothing about what happens in it.

test.use({ unhurried: true });

test('from chat to chat while two answers stream side by side and one waits for a decision', async ({
  page,
  app,
  problems,
}) => {
  test.slow();
  const chat = (title: string) => rows(page).filter({ hasText: title });
  const prose = answers(page).locator('.prose');
  const length = async () => (await textOf(prose.first())).length;
  await begin(page, app);
  await circle(page, 'Off');
  const evidence = await textOf(card(page));
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Frequency penalty' }).fill('');
  await neverEnd(page);
  await ask(page, 'Go on for ever.');
  await expect.poll(length).toBeGreaterThan(100);
  await page.keyboard.press('Alt+n');
  await ask(page, 'Are you there?');
  await expect(page.getByRole('button', { name: 'Stop generating' })).toBeVisible();
  // Beside the other one, also for somebody who opens the page only now.
  await expect(prose.last()).not.toHaveText('');
  await page.reload();
  await chat('Are you there?').click();
  await expect(page.getByRole('button', { name: 'Stop generating' })).toBeVisible();
  const second = await length();
  await expect.poll(length).toBeGreaterThan(second);

  await chat('Go on for ever.').click();
  await expect.poll(length).toBeGreaterThan(100);
  const before = await textOf(prose.first());
  await ask(page, 'And then?');
  await expect(page.getByText('Sent next')).toBeVisible();

  await chat('The old mill stood').click();
  await expect(card(page)).toBeVisible();
  await expect.poll(() => textOf(card(page))).toBe(evidence);

  await chat('Are you there?').click();
  await expect.poll(length).toBeGreaterThan(second);

  await chat('Go on for ever.').click();
  await expect.poll(length).toBeGreaterThan(before.length);
  expect((await textOf(prose.first())).startsWith(before.slice(0, 80))).toBe(true);
  await expect(page.getByText('Sent next')).toBeVisible();
  await page.getByRole('button', { name: 'Stop generating' }).click();
  await expect(page.getByText('Stopped by you').first()).toBeVisible();
  await expect(page.locator('article', { hasText: 'And then?' })).toBeVisible();

  await chat('The old mill stood').click();
  await choose(page, 'Stop');
  await expect(page.getByText('Stopped: repeating itself')).toBeVisible();
  await chat('Are you there?').click();
  await page.getByRole('button', { name: 'Stop generating' }).click();
  await expect(page.getByText('Stopped by you').first()).toBeVisible();
  expect(problems).toEqual([]);
});
