import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { buildLibrary, writeManifest } from '../../vulkan/drivers/build.ts';
import { type App, answers, ask, begin, expect, neverEnd, startApp, test, textOf } from '../app.ts';

//  Vulkan with drivers that fail, on Mesa's software device: what a user of a GPU sees.

test.skip(process.platform === 'darwin', 'needs Linux: a Vulkan driver');

const folder = mkdtempSync(join(tmpdir(), 'longhand-gpu-'));
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function withApp(env: Record<string, string>, use: (app: App) => Promise<void>): Promise<void> {
  const app = await startApp({ LONGHAND_VULKAN_CACHE: folder, ...env });
  try {
    await use(app);
  } finally {
    await app.close();
  }
}

async function engineSettings(page: Page): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Engine', exact: true }).click();
}

test('the GPU is lost in the middle of an answer: the text stays, Resume goes on with the CPU, and the page says so', async ({
  page,
}) => {
  test.setTimeout(180_000);
  const lost = join(folder, 'lost');
  rmSync(lost, { force: true });
  await withApp({ LONGHAND_VULKAN_LOADER: buildLibrary('faulty', folder), FAULTY_LOSE: lost }, async (app) => {
    await begin(page, app);
    await engineSettings(page);
    await page.getByRole('combobox', { name: 'Run on' }).click();
    await page.getByRole('option', { name: /\(Vulkan\)$/ }).click();
    await neverEnd(page);
    await ask(page, 'Go on for ever.');
    const prose = answers(page).locator('.prose');
    const written = async () => (await textOf(prose)).length;
    await expect.poll(written, { timeout: 90_000 }).toBeGreaterThan(20);
    writeFileSync(lost, '');
    const notice = page.getByRole('alert').getByText('The engine ran into an error');
    await expect(notice).toBeVisible({ timeout: 60_000 });
    await expect(page.getByRole('alert').getByText(/The \d+ tokens above are saved/)).toBeVisible();
    const kept = await textOf(prose);
    expect(kept.length).toBeGreaterThan(20);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(written, { timeout: 60_000 }).toBeGreaterThan(kept.length);
    expect((await textOf(prose)).startsWith(kept.slice(0, 20))).toBe(true);
    await expect(page.getByText('GPU failed, using the CPU')).toBeVisible();
    await expect(answers(page)).toHaveCount(1);
  });
});

test('a driver that crashes costs a line in Settings, and nothing else', async ({ page }) => {
  const driver = writeManifest(buildLibrary('crashing', folder), folder);
  await withApp({ VK_ICD_FILENAMES: driver }, async (app) => {
    await begin(page, app);
    await engineSettings(page);
    await expect(
      page.getByText('The Vulkan driver of this computer crashed when it was tried (signal 11)', { exact: false }),
    ).toBeVisible();
    await page.getByRole('combobox', { name: 'Run on' }).click();
    await expect(page.getByRole('option', { name: /\(CPU\)$/ })).toBeVisible();
    await expect(page.getByRole('option', { name: /\(Vulkan\)$/ })).toHaveCount(0);
    await page.keyboard.press('Escape');
  });
});
