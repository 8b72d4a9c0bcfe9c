import { expect, test } from '../app.ts';

test('prepared copies: switched on, their size told, deleted', async ({ page, scene, problems }) => {
  await scene('empty');
  await page.evaluate(() => {
    Object.assign(window.page.core.world.packed, { bytes: 1.4e9, models: 3 });
    window.page.useShell.getState().go({ kind: 'settings', section: 'storage' });
  });
  const section = page.getByRole('region', { name: 'Prepared copies' });
  const keep = section.getByRole('switch', { name: 'Keep prepared copies of models' });
  await expect(keep).not.toBeChecked();
  await keep.click();
  await expect(keep).toBeChecked();
  expect(await page.evaluate(() => window.page.core.world.settings.cachePackedWeights)).toBe(true);

  await expect(section.getByRole('status')).toHaveText('3 models, 1.4 GB');
  const remove = section.getByRole('button', { name: 'Delete' });
  await remove.press('Enter');
  await expect(section.getByRole('status')).toHaveText('1.4 GB freed');
  await expect(remove).toBeDisabled();
  await expect(remove).toBeFocused();
  expect(problems).toEqual([]);
});
