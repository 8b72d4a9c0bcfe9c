import { begin, expect, test } from '../app.ts';
import config from '../playwright.config.ts';

const { launchOptions } = config.use ?? {};
// The browser chooses a screen by itself; one without a screen draws what it would show.
const chooses = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];
test.use({ launchOptions: { ...launchOptions, args: [...(launchOptions?.args ?? []), ...chooses] } });

test('a screenshot of another window is taken by command, and goes along as a picture', async ({ page, app }) => {
  await begin(page, app);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('screenshot');
  await page.getByRole('option', { name: 'Attach a screenshot' }).click();
  const tiles = page.getByRole('list', { name: 'Attachments' });
  await expect(tiles.getByRole('img', { name: 'Screenshot.png' })).toBeVisible();
});
