import { ask, begin, expect, finished, test } from '../app.ts';

test('first start: ready at once, true figures, an empty chat with focus, an answer', async ({
  page,
  app,
  problems,
}) => {
  await page.goto(app.address);
  await expect(page.getByRole('heading', { name: 'Longhand is ready' })).toBeVisible();
  await expect(page.getByText(/^Writes (about|more than) \d+ words per second$/).first()).toBeVisible({
    timeout: 60_000,
  });
  await page.getByRole('button', { name: 'Start chatting', exact: true }).click();
  await expect(page.locator('#composer')).toBeFocused();
  await ask(page, 'What is your name?');
  await expect(finished(page)).toBeVisible();
  expect(problems).toEqual([]);
});

test('a path that holds no model is refused with a reason, and the way stays open', async ({ page, app }) => {
  await page.goto(app.address);
  await page.getByRole('button', { name: /^Choose (a model|models)$/ }).click();
  await page.getByRole('textbox', { name: 'Path to a model file or folder' }).fill('/nowhere/model.gguf');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.locator('[aria-invalid=true]')).toBeVisible();
  await page.getByRole('button', { name: 'Start chatting', exact: true }).click();
  await expect(page.locator('#composer')).toBeFocused();
});

test('the second start goes to the chats', async ({ page, app }) => {
  await begin(page, app);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'What are you working on?' })).toBeVisible();
});

test('the chats are shown once it is kept that they are wanted, so that no sudden end leads back here', async ({
  page,
  app,
}) => {
  await page.goto(app.address);
  const start = page.getByRole('button', { name: 'Start chatting', exact: true });
  const chats = page.getByRole('heading', { name: 'What are you working on?' });
  await expect(start).toBeVisible();
  process.kill(app.host(), 'SIGSTOP');
  await start.click();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await expect(start).toBeVisible();
  await app.killAndRestart();
  // A new address changes nothing but its fragment: this is the same page, which asks again for what was chosen in it.
  await page.goto(app.address);
  await expect(chats).toBeVisible();
  await app.killAndRestart();
  await page.goto(app.address);
  await expect(chats).toBeVisible();
});
