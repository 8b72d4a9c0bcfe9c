import { expect, test } from '../app.ts';

test('a model that is installed is not offered for download again: its button starts a chat', async ({
  page,
  scene,
}) => {
  await scene('catalogue');
  const rows = page.getByRole('list', { name: 'Catalogue' }).getByRole('listitem');
  const here = rows.filter({ hasText: 'Qwen3.5 9B' });
  await expect(here.getByText('Installed')).toBeVisible();
  await expect(here.getByRole('button', { name: /^Download / })).toHaveCount(0);
  const other = rows.filter({ hasText: 'Installed' }).first();
  await expect(
    rows
      .filter({ hasNotText: 'Installed' })
      .getByRole('button', { name: /^Download / })
      .first(),
  ).toBeVisible();
  await other.getByRole('button', { name: /^Start a chat with / }).click();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
});

test('an encoder that is installed is offered no chat, which would fail, wherever it stands', async ({
  page,
  scene,
}) => {
  await scene('catalogue');
  const name = await page.evaluate(() => {
    const { models } = window.page.useEngine.getState();
    window.page.useEngine.setState({
      models: models.map((model) => ({
        ...model,
        description: model.description && { ...model.description, encoder: !model.builtIn },
      })),
    });
    return models.find(({ id }) => id === 'lfm2-1.2b')?.name ?? '';
  });
  const row = page.getByRole('list', { name: 'Catalogue' }).getByRole('listitem').filter({ hasText: name }).first();
  await expect(row.getByRole('button', { name: /^Start a chat/ })).toHaveCount(0);
  await row.getByRole('button', { name }).first().click();
  await expect(page.getByRole('button', { name: 'Start a chat', exact: true })).toHaveCount(0);
  await row.getByRole('button', { name: `About ${name}` }).click();
  const about = page.getByRole('complementary', { name: `About ${name}` });
  await expect(about).toBeVisible();
  for (const button of ['New chat', 'Benchmark', 'Load'])
    await expect(about.getByRole('button', { name: button, exact: true })).toHaveCount(0);
  await page.keyboard.press('Alt+n');
  await page.keyboard.press('Control+Shift+M');
  await expect(page.getByRole('textbox', { name: 'Search models' })).toBeFocused();
  await expect(page.getByRole('dialog').getByText(name)).toHaveCount(0);
});

test('in the picker a model is chosen for new chats, and they begin with it', async ({ page, scene }) => {
  await scene('models');
  await page.keyboard.press('Alt+n');
  const picker = page.getByRole('textbox', { name: 'Search models' });
  const openPicker = async () => {
    await page.keyboard.press('Control+Shift+M');
    await expect(picker).toBeFocused();
  };
  await openPicker();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^LFM2 1\.2B/ })
    .click();
  await openPicker();
  const wish = page.getByRole('switch', { name: 'Use LFM2 1.2B for new chats' });
  await wish.click();
  await expect(wish).toHaveAttribute('aria-checked', 'true');
  await page.keyboard.press('Escape');
  await page.getByRole('navigation', { name: 'Chats' }).locator('[data-row]').first().click();
  await page.keyboard.press('Alt+n');
  await expect(page.getByRole('button', { name: /^Model LFM2 1\.2B/ })).toBeVisible();
  expect(await page.evaluate(() => window.page.useSettings.getState().values.defaultModelId)).toBe('lfm2-1.2b');
});
