import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { modelTextFromFiles } from '../../../app/text/model-text.ts';
import { type App, ask, begin, expect, rows, startApp, test } from '../app.ts';

//  The real app with the real engine; only which tokens come is written down, for the built-in model cannot be relied on to call.

const root = join(import.meta.dirname, '../../..');
const read = (name: string) => readFileSync(join(root, 'resources', 'starter-model', name), 'utf8');
const { tokenizer } = modelTextFromFiles({
  tokenizer: JSON.parse(read('tokenizer.json')),
  tokenizerConfig: JSON.parse(read('tokenizer_config.json')),
});

const call = (name: string, key: string, value: string) =>
  `<tool_call>\n<function=${name}>\n<parameter=${key}>\n${value}\n</parameter>\n</function>\n</tool_call>`;

async function withModel(says: readonly string[], use: (app: App) => Promise<void>): Promise<void> {
  const steps = says.map((text) => tokenizer.encode(tokenizer.split(text)));
  const env = {
    LONGHAND_SCRIPT: JSON.stringify(steps),
    LONGHAND_RESULT_TOKEN: String(tokenizer.idOf('<tool_response>')),
  };
  const app = await startApp(env, 'test/support/core/calling-host.ts');
  try {
    await use(app);
  } finally {
    await app.close();
  }
}

async function switchOn(page: Page, ...names: string[]): Promise<void> {
  await page.getByRole('button', { name: 'Tools', exact: true }).click();
  for (const name of names) await page.getByRole('switch', { name, exact: true }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: `Tools: ${names.length} on` })).toBeVisible();
}

const block = (page: Page, name: RegExp) =>
  page.getByRole('listitem').filter({ has: page.getByRole('button', { name }) });

test('a call in an answer: its block, what it gave, the text after it, once more, and found again', async ({
  page,
  problems,
}) => {
  await withModel(
    [`Let me work it out.\n\n${call('calculator', 'expression', '12.5 * 8')}`, 'It is **100**.'],
    async (app) => {
      await begin(page, app);
      await switchOn(page, 'Calculator');
      await ask(page, 'What is 12.5 * 8?');
      await expect(page.getByText('It is 100.', { exact: true })).toBeVisible();
      await expect(page.getByText('<tool_call>')).toHaveCount(0);
      const made = block(page, /^Calculator 12\.5 \* 8/);
      await made.getByRole('button', { name: /^Calculator/ }).click();
      await expect(made.getByRole('region', { name: 'Result' })).toContainText('100');
      await made.getByRole('button', { name: 'Run again' }).click();
      await expect(page.getByText('2/2')).toBeVisible();
      await expect(page.getByText('It is 100.', { exact: true })).toBeVisible();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('calculator expression');
      await expect(page.getByRole('option', { name: /12\.5/ }).first()).toBeVisible();
      // Once the app has ended the page complains of it.
      expect(problems).toEqual([]);
    },
  );
});

test('killed while a tool runs: it is shown as interrupted, and going on it is not run again', async ({ page }) => {
  await withModel([call('run_javascript', 'code', 'for (;;);'), 'I could not finish it.'], async (app) => {
    await begin(page, app);
    await switchOn(page, 'Run JavaScript');
    await ask(page, 'Count for ever.');
    const made = block(page, /^Run JavaScript/);
    await expect(made).toContainText('Running…');
    await app.killAndRestart();
    await page.goto(app.address);
    await rows(page).first().click();
    await expect(made).toContainText('Interrupted');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect(page.getByText('I could not finish it.', { exact: true })).toBeVisible();
    await expect(made).toHaveCount(1);
    await expect(made).toContainText('Interrupted');
  });
});
