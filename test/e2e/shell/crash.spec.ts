import { answers, ask, begin, expect, neverEnd, rows, test, textOf } from '../app.ts';

const NOTICE = 'The engine stopped while writing this answer';

test('the engine ends: the text stays, a notice says what is safe, Resume goes on in the same message', async ({
  page,
  app,
}) => {
  await begin(page, app);
  await neverEnd(page);
  await ask(page, 'Go on for ever.');
  const prose = answers(page).locator('.prose');
  await expect.poll(async () => (await textOf(prose)).length).toBeGreaterThan(60);
  process.kill(app.engine(), 'SIGKILL');
  await expect(page.getByRole('alert').getByText(NOTICE)).toBeVisible();
  const kept = (await textOf(prose)).length;
  expect(kept).toBeGreaterThan(60);
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect.poll(async () => (await textOf(prose)).length).toBeGreaterThan(kept);
  await page.getByRole('button', { name: 'Stop generating' }).click();
  await expect(page.getByText('Stopped by you')).toBeVisible();
  await expect(answers(page)).toHaveCount(1);
});

test('the app ends in the middle of an answer: the next start has it, with the same notice', async ({ page, app }) => {
  await begin(page, app);
  await neverEnd(page);
  await ask(page, 'Go on for ever.');
  const prose = answers(page).locator('.prose');
  await expect.poll(async () => (await textOf(prose)).length).toBeGreaterThan(200);
  const shown = (await textOf(prose)).slice(0, 200);
  await page.waitForTimeout(600);
  await app.killAndRestart();
  await page.goto(app.address);
  await rows(page).first().click();
  await expect(page.getByRole('alert').getByText(NOTICE)).toBeVisible();
  expect((await textOf(prose)).slice(0, 200)).toBe(shown);
  await expect(page.getByRole('button', { name: 'Resume' })).toBeEnabled();
});

test('the host is started again: the page that was open says where to look, and the new one has everything', async ({
  page,
  app,
  context,
}) => {
  await begin(page, app);
  await ask(page, 'Hello.');
  await expect(answers(page).locator('.prose')).not.toHaveText('');
  await app.killAndRestart();
  const again = await context.newPage();
  await again.goto(app.address);
  await expect(rows(again)).toHaveCount(1);
  // What let it in ended with the host.
  await expect(page.getByText('Longhand moved to a newer tab')).toBeVisible();
  await ask(page, 'And now?');
  await expect(page.locator('#composer')).toHaveValue('And now?');
  // The newest address in the same tab: only what stands behind the # changes.
  await page.evaluate((address) => window.location.assign(address), app.address);
  await expect(page.getByText('Engine ready')).toBeVisible();
  await ask(page, 'And now?');
  await expect(page.locator('article', { hasText: 'And now?' })).toBeVisible();
});

test('an address lets one tab in: it is gone from the address bar, reloading stays in, another tab is told', async ({
  page,
  app,
  context,
}) => {
  const { address } = app;
  await page.goto(address);
  await expect(page.getByRole('heading', { name: 'Longhand is ready' })).toBeVisible();
  expect(page.url()).toBe(`${new URL(address).origin}/#/chat`);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Longhand is ready' })).toBeVisible();
  expect(await context.cookies()).toEqual([]);
  for (const other of [address, new URL(address).origin]) {
    const tab = await context.newPage();
    await tab.goto(other);
    await expect(tab.getByRole('heading', { name: 'This link to Longhand no longer works' })).toBeVisible();
    await tab.close();
  }
});

test('a page whose host does not come back says where to look', async ({ page, app }) => {
  await begin(page, app);
  app.kill();
  await expect(page.getByText('Connection lost, reconnecting')).toBeVisible();
  await ask(page, 'Is anybody there?');
  await expect(page.getByRole('alert').getByText('The connection to Longhand was lost')).toBeVisible();
  await expect(page.locator('#composer')).toHaveValue('Is anybody there?');
  await expect(page.getByText('Longhand moved to a newer tab')).toBeVisible();
});
