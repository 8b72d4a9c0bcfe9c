import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeSeeingGguf, pictureFiles } from '../../support/models/seeing-model.ts';
import { ask, begin, expect, finished, test } from '../app.ts';
import { dropOn } from '../drag.ts';

//  Pictures in a real chat: a file chosen, one pasted, seen small and large, sent, kept over a reload.

test('pictures are attached, looked at, taken out, sent, and kept', async ({ page, app, problems }) => {
  await begin(page, app);
  await page.locator('input[type=file]').setInputFiles([pictureFiles('rgb.png'), pictureFiles('exif_6.jpg')]);
  const tiles = page.getByRole('list', { name: 'Attachments' });
  await expect(tiles.getByRole('img', { name: 'rgb.png' })).toBeVisible();
  await expect(tiles.getByRole('img', { name: 'exif_6.jpg' })).toBeVisible();
  await expect(page.getByText(/can’t see pictures/)).toBeVisible();

  // Their order is that in which the model sees them: by keys, and by the pointer.
  const order = () => tiles.getByRole('img').evaluateAll((images) => images.map((image) => image.getAttribute('alt')));
  await tiles.getByRole('button', { name: 'Enlarge rgb.png' }).press('Alt+ArrowRight');
  await expect(page.getByText('File 2 of 2')).toBeAttached();
  expect(await order()).toEqual(['exif_6.jpg', 'rgb.png']);
  await tiles.getByRole('listitem').nth(1).dragTo(tiles.getByRole('listitem').first());
  await expect.poll(order).toEqual(['rgb.png', 'exif_6.jpg']);

  await tiles.getByRole('button', { name: 'Remove exif_6.jpg' }).click();
  await expect(tiles.getByRole('img')).toHaveCount(1);

  await tiles.getByRole('button', { name: 'Enlarge rgb.png' }).click();
  const large = page.getByRole('dialog', { name: 'rgb.png' });
  await expect(large.getByText('300 × 200 pixels')).toBeVisible();
  await large.getByRole('button', { name: 'Show actual size' }).click();
  await expect(large.getByRole('button', { name: 'Fit to window' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(large).toBeHidden();

  await ask(page, 'What is it?');
  await expect(finished(page)).toBeVisible();
  await page.reload();
  const sent = page.locator('article', { hasText: 'What is it?' });
  await expect(sent.getByRole('img', { name: 'rgb.png' })).toBeVisible();
  const size = await sent
    .getByRole('img', { name: 'rgb.png' })
    .evaluate((image: HTMLImageElement) => image.naturalWidth);
  expect(size).toBe(300);
  expect(problems).toEqual([]);
});

test('what only calls itself a picture is refused in a sentence', async ({ page, app }) => {
  await begin(page, app);
  const broken = {
    name: 'broken.png',
    mimeType: 'image/png',
    buffer: Buffer.from('\x89PNG\r\n\x1a\nno more', 'latin1'),
  };
  await page.locator('input[type=file]').setInputFiles(broken);
  const tiles = page.getByRole('list', { name: 'Attachments' });
  await expect(tiles.getByText('broken.png')).toBeVisible();
  await expect(tiles.getByRole('img')).toHaveCount(0);
  await expect(page.locator('#composer')).toBeEditable();
});

test.describe('a GGUF model whose vision file lies elsewhere', () => {
  test.slow();
  let folder = '';
  let model = '';
  let tower = '';
  test.beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'longhand-vision-'));
    model = makeSeeingGguf(folder);
    tower = join(folder, 'eyes.gguf');
    renameSync(join(dirname(model), 'mmproj-F32.gguf'), tower);
  });
  test.afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('says what it needs where a picture is attached, takes it there, and sees', async ({ page, app, problems }) => {
    await begin(page, app);
    await dropOn(page, 'Attach to message', model);
    const about = page.getByRole('complementary', { name: /^About/ });
    await expect(about.getByRole('button', { name: 'Choose its vision file…' })).toBeVisible({ timeout: 60_000 });
    await about.getByRole('button', { name: 'New chat' }).click();
    await page.locator('input[type=file]').setInputFiles(pictureFiles('rgb.png'));
    const notice = page.getByRole('status').filter({ hasText: 'can’t see pictures without its vision file.' });
    await notice.getByRole('button', { name: 'Choose it…' }).click();
    const settings = page.getByRole('dialog', { name: /^Settings for/ });
    const field = settings.getByRole('textbox', { name: 'Path of the vision file' });
    await expect(field).toHaveAttribute('placeholder', 'None in the model’s folder');
    await field.fill(model);
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(settings.getByRole('alert')).toContainText('This file does not let this model see.');
    await field.fill(tower);
    await settings.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(settings).toBeHidden();
    await expect(notice).toBeHidden();
    await ask(page, 'What is it?');
    await expect(finished(page)).toBeVisible();
    expect(problems).toEqual([]);
  });

  test('dropped alone, the vision file is no document and no model: a line says where it belongs', async ({
    page,
    app,
  }) => {
    await begin(page, app);
    const named = join(folder, 'mmproj-F16.gguf');
    renameSync(tower, named);
    await dropOn(page, 'Attach to message', named);
    await expect(page.getByText(/^mmproj-F16.gguf lets a model see pictures\./)).toBeVisible();
    await expect(page.getByRole('list', { name: 'Attachments' })).toHaveCount(0);
  });
});
