import { expect, test } from './app.ts';

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
