// What a model is worth, by clicking: forecast, tested, stopped, gone on with, compared, exported, deleted.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { starter } from '../../support/models/models.ts';
import { begin, expect, test } from '../app.ts';

async function openQuality(page: Page, name: string) {
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('button', { name: /^Models/ })
    .click();
  await page
    .getByRole('list', { name: 'Installed' })
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click();
  const details = page.getByRole('complementary', { name: `About ${name}`, exact: true });
  await details.getByRole('radio', { name: 'Quality' }).click();
  return details;
}

/** Opens the dialog of a test. */
async function ask(page: Page, kind: string) {
  await page.getByRole('button', { name: new RegExp(`^Test( again)?… ${kind}$`) }).click();
  return page.getByRole('dialog');
}

test('a detail is looked for in texts of chosen lengths and depths; another model is tested alike, and the two do not differ', async ({
  page,
  app,
  problems,
}) => {
  test.slow();
  const disk = mkdtempSync(join(tmpdir(), 'longhand-quality-'));
  const copy = join(disk, 'Copy');
  cpSync(starter, copy, { recursive: true });
  await begin(page, app);
  const details = await openQuality(page, 'Starter');

  const find = async () => {
    const dialog = await ask(page, 'Finding a detail');
    await dialog.getByRole('textbox', { name: 'Lengths' }).fill('1 metre');
    await expect(dialog.getByText('Up to 8 whole numbers from 64')).toBeVisible();
    await expect(dialog.getByRole('button', { name: 'Start the test' })).toBeDisabled();
    await dialog.getByRole('textbox', { name: 'Lengths' }).fill('128, 64');
    await dialog.getByRole('textbox', { name: 'Depths' }).fill('0, 100');
    const forecast = dialog.getByRole('region', { name: 'Forecast' });
    await expect(forecast.getByText(/ at most$/)).toBeVisible({ timeout: 60_000 });
    await expect(forecast.getByText('Up to 192 tokens')).toBeVisible();
    await dialog.getByRole('button', { name: 'Start the test' }).click();
    await expect(dialog).toBeHidden();
  };
  await find();
  const section = details.getByRole('region', { name: 'Finding a detail', exact: true });
  await expect(section.getByText(/4 texts of 64, 128 tokens/)).toBeVisible({ timeout: 60_000 });
  await expect(section.getByText(/^\d+% \(\d+% to \d+%\)$/)).toBeVisible();
  await section.getByText('Part by part').click();
  await expect(section.getByRole('row', { name: /^128/ })).toContainText(/found|missed/);

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    details.getByRole('button', { name: 'Export as JSON' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('Starter-quality.json');
  const exported = JSON.parse(readFileSync(await file.path(), 'utf8'));
  expect(exported).toMatchObject({ model: 'Starter', results: [{ test: { kind: 'needle', lengths: [64, 128] } }] });

  await details.getByRole('button', { name: 'Compare two models…' }).click();
  const comparison = page.getByRole('dialog', { name: 'Two models side by side' });
  await expect(comparison.getByRole('status')).toHaveText(/same model twice/);
  await comparison.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByRole('textbox', { name: 'Path to a model file or folder' }).fill(copy);
  await page.getByRole('button', { name: 'Use in place' }).click();
  const other = await openQuality(page, 'Copy');
  await find();
  await expect(other.getByText(/4 texts of 64, 128 tokens/)).toBeVisible({ timeout: 60_000 });
  await other.getByRole('button', { name: 'Compare two models…' }).click();
  await expect(comparison.getByRole('status')).toHaveText(
    'No difference: chance alone explains everything that differs.',
  );
  await expect(comparison.getByRole('row', { name: /^Found/ })).toContainText('No difference');
  await comparison.getByRole('button', { name: 'Close' }).click();

  await other.getByRole('button', { name: 'Delete this result' }).click();
  await expect(other.getByText(/4 texts of/)).toHaveCount(0);
  expect(problems).toEqual([]);
  rmSync(disk, { recursive: true, force: true });
});

test('a text that is none is refused with its reason; a long one is stopped, and gone on with after the page was opened again', async ({
  page,
  app,
  problems,
}) => {
  test.slow();
  const disk = mkdtempSync(join(tmpdir(), 'longhand-quality-'));
  const write = (name: string, text: string) => {
    writeFileSync(join(disk, name), text);
    return join(disk, name);
  };
  await begin(page, app);
  const details = await openQuality(page, 'Starter');
  const dialog = await ask(page, 'Perplexity on a text');
  const choose = (path: string) => dialog.locator('input[type=file]').setInputFiles(path);
  const start = dialog.getByRole('button', { name: 'Start the test' });
  await choose(write('empty.txt', ' \n'));
  await expect(dialog.getByRole('alert')).toContainText('This text is too short');
  await expect(start).toBeDisabled();
  await choose(write('program.txt', 'MZ\0\0\u0001'));
  await expect(dialog.getByRole('alert')).toContainText('not plain text');
  const sentence = 'The harbour opens at nine, and the mill beside the river was painted last spring. ';
  await choose(write('A long book.txt', sentence.repeat(9000)));
  await dialog.getByRole('combobox', { name: 'How much of it' }).click();
  await page.getByRole('option', { name: 'All of it' }).click();
  await expect(dialog.getByRole('region', { name: 'Forecast' }).getByText(/^About /)).toBeVisible({ timeout: 60_000 });
  await start.click();

  const running = details.getByRole('region', { name: 'Perplexity on a text: testing' });
  await expect(running.getByRole('status')).toHaveText(/^(Reading the text|Loading the model|Waiting)/);
  await expect(details.getByRole('button', { name: 'Test… Reasoning' })).toBeDisabled();
  await expect(running.getByText('left for this step')).toBeVisible({ timeout: 60_000 });
  await running.getByRole('button', { name: 'Stop' }).click();
  await expect(details.getByText('Perplexity on a text: stopped')).toBeVisible();

  await page.goto(app.address);
  await openQuality(page, 'Starter');
  await details.getByRole('button', { name: 'Continue' }).click();
  await expect(running.getByRole('progressbar')).toBeVisible();
  await running.getByRole('button', { name: 'Stop' }).click();
  await details.getByRole('button', { name: 'Discard' }).click();
  await expect(details.getByText('A long book.txt')).toHaveCount(0);
  expect(problems).toEqual([]);
  rmSync(disk, { recursive: true, force: true });
});

test('a copy is no distance from its original, which is told in a word; questions come from a file, whose bad lines are refused', async ({
  page,
  app,
  problems,
}) => {
  test.slow();
  const disk = mkdtempSync(join(tmpdir(), 'longhand-quality-'));
  cpSync(starter, join(disk, 'Copy'), { recursive: true });
  await begin(page, app);
  await openQuality(page, 'Starter');
  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByRole('textbox', { name: 'Path to a model file or folder' }).fill(join(disk, 'Copy'));
  await page.getByRole('button', { name: 'Use in place' }).click();
  const details = await openQuality(page, 'Copy');
  const forecast = page.getByRole('region', { name: 'Forecast' });
  const start = page.getByRole('button', { name: 'Start the test' });

  const distance = await ask(page, 'Distance from another model');
  await expect(distance.getByRole('combobox', { name: 'Compare with' })).toHaveText('Starter');
  await expect(forecast.getByText(/^About /)).toBeVisible({ timeout: 60_000 });
  await start.click();
  const section = details.getByRole('region', { name: 'Distance from another model', exact: true });
  await expect(section.getByText('Hardly different')).toBeVisible({ timeout: 60_000 });
  await expect(section.getByText('Starter, on: Pages of the manual')).toBeVisible();
  await expect(section.getByText('100% (100% to 100%)')).toBeVisible();

  const choices = await ask(page, 'Multiple choice');
  await expect(start).toBeDisabled();
  const choose = (text: string) =>
    choices
      .locator('input[type=file]')
      .setInputFiles({ name: 'questions.jsonl', mimeType: 'text/plain', buffer: Buffer.from(text) });
  await choose('What is this?');
  await expect(choices.getByRole('alert')).toContainText('not a question');
  // So many that nobody waits for the end of them.
  await choose('{"question": "Two and two are", "choices": ["four", "nine"], "answer": 0}\n'.repeat(800));
  await expect(forecast.getByText(/^About /)).toBeVisible({ timeout: 60_000 });
  await start.click();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Performance' }).click();
  // Who is elsewhere by then is told, and led back.
  await expect(page.getByText('Multiple choice: Copy was tested', { exact: true })).toBeVisible({ timeout: 90_000 });
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  const asked = details.getByRole('region', { name: 'Multiple choice', exact: true });
  await expect(asked.getByText(/^questions\.jsonl, /)).toBeVisible({ timeout: 60_000 });
  expect(problems).toEqual([]);
  rmSync(disk, { recursive: true, force: true });
});
