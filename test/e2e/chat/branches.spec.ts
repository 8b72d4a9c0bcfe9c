import { expect, test } from '../app.ts';

test('the branches of a chat are listed above it; choosing one by keyboard leads to where it begins', async ({
  page,
  scene,
}) => {
  await scene('branches');
  const list = page.getByRole('menuitemradio');
  await page.getByRole('button', { name: 'Branches of this chat' }).focus();
  await page.keyboard.press('Enter');
  await expect(list).toHaveCount(3);
  await expect(list.nth(0)).toBeChecked();
  await expect(list.nth(1)).toContainText('Generating');
  await page.keyboard.press('End');
  await expect(list.nth(2)).toBeFocused();
  await expect(list.nth(2)).toContainText('Make the whole letter friendlier, but keep the deadline.');
  await page.keyboard.press('Enter');
  const begin = page.locator('article', { hasText: 'Make the whole letter' });
  await expect(begin).toBeInViewport();
  await page.getByRole('button', { name: 'Branches of this chat' }).click();
  await expect(list.nth(2)).toBeChecked();
  await list.nth(0).click();
  await expect(page.locator('article', { hasText: 'Paragraph 60, shorter' })).toBeInViewport();
});
