import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { modelTextFromFiles } from '../../../app/text/model-text.ts';
import { type App, ask, begin, expect, rows, startApp, test } from '../app.ts';

//  The real app with the real engine; only which tokens come is written down, for the built-in model cannot be relied on to call.

const root = join(import.meta.dirname, '../../..');
const everything = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
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

const processesOf = (script: string) =>
  execFileSync('pgrep', ['-f', script], { encoding: 'utf8' }).trim().split('\n').map(Number);

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

async function addEverything(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Tools', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Insert a prompt…' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Manage tools…' }).click();
  await page.getByRole('button', { name: 'Add server' }).click();
  const adding = page.getByRole('dialog', { name: 'Add server' });
  await adding.getByLabel('Name', { exact: true }).fill('everything');
  await adding.getByLabel('Command or web address').fill(`node ${everything}`);
  await adding.getByRole('button', { name: 'Add server' }).click();
  await expect(page.getByText('everything', { exact: true })).toBeVisible();
  await page.goBack();
}

test('a prompt of a tool server: found in the menu, filled in, and put behind what is in the message field', async ({
  page,
  app,
  problems,
}) => {
  await begin(page, app);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('By the way:');
  await addEverything(page);
  await page.getByRole('button', { name: 'Tools', exact: true }).click();
  await page.getByRole('button', { name: 'Insert a prompt…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Insert a prompt' });
  await dialog.getByRole('button', { name: /^Arguments Prompt/ }).press('Enter');
  const blanks = page.getByRole('dialog', { name: 'Arguments Prompt' });
  const city = blanks.getByLabel('city', { exact: true });
  await expect(city).toBeFocused();
  await expect(blanks.getByRole('button', { name: 'Insert' })).toBeDisabled();
  await city.fill('Genoa');
  await blanks.getByRole('button', { name: 'Back' }).click();
  await dialog.getByRole('button', { name: /^Resource Prompt/ }).click();
  const resource = page.getByRole('dialog', { name: 'Resource Prompt' });
  await resource.getByLabel('resourceType').fill('Film');
  await resource.getByLabel('resourceId').fill('1');
  await resource.getByRole('button', { name: 'Insert' }).click();
  await expect(resource.getByRole('alert')).toContainText('The server reported an error');
  await expect(resource.getByRole('alert')).toContainText('Film');
  await resource.getByRole('button', { name: 'Back' }).click();
  await dialog.getByRole('button', { name: /^Arguments Prompt/ }).click();
  await expect(city).toHaveValue('');
  await city.fill('Genoa');
  await blanks.getByRole('button', { name: 'Insert' }).click();
  await expect(blanks).toHaveCount(0);
  await expect(field).toHaveValue("By the way:\n\nWhat's weather in Genoa?");
  await expect(field).toBeFocused();

  // The program stands still, so that an answer comes when nobody waits for it any more.
  await field.fill('');
  const running = processesOf(everything);
  for (const pid of running) process.kill(pid, 'SIGSTOP');
  await page.getByRole('button', { name: 'Tools', exact: true }).click();
  await page.getByRole('button', { name: 'Insert a prompt…' }).click();
  await dialog.getByRole('button', { name: /^Simple Prompt/ }).click();
  await expect(dialog.getByText('Loading…')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await page.getByRole('button', { name: 'Tools', exact: true }).click();
  await page.getByRole('button', { name: 'Insert a prompt…' }).click();
  for (const pid of running) process.kill(pid, 'SIGCONT');
  await dialog.getByRole('button', { name: /^Arguments Prompt/ }).click();
  await city.fill('Turin');
  await blanks.getByRole('button', { name: 'Insert' }).click();
  await expect(field).toHaveValue("What's weather in Turin?");
  expect(problems).toEqual([]);
});

test('suggestions for the blanks of a prompt: chosen by keys and by mouse, left alone, and never in the way', async ({
  page,
  app,
  problems,
}) => {
  await begin(page, app);
  await addEverything(page);
  await page.getByRole('button', { name: 'Tools', exact: true }).click();
  await page.getByRole('button', { name: 'Insert a prompt…' }).click();
  await page.getByRole('button', { name: /^Team Management/ }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Team Management' });
  const department = dialog.getByRole('combobox', { name: 'department' });
  const name = dialog.getByRole('combobox', { name: 'name' });
  const options = page.getByRole('option');
  await expect(department).toBeFocused();
  await expect(department).toHaveAttribute('aria-expanded', 'false');

  await page.keyboard.type('S');
  await expect(page.getByRole('listbox', { name: 'Suggestions for department' })).toBeVisible();
  await expect(options).toHaveText(['Sales', 'Support']);
  await expect(department).toHaveAttribute('aria-expanded', 'true');
  const { violations } = await new AxeBuilder({ page }).include('[role=dialog]').analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option', { selected: true })).toHaveText('Support');
  const active = (await page.getByRole('option', { selected: true }).getAttribute('id')) ?? '';
  await expect(department).toHaveAttribute('aria-activedescendant', active);
  await page.keyboard.press('Enter');
  await expect(department).toHaveValue('Support');
  await expect(options).toHaveCount(0);
  await expect(department).toBeFocused();

  // An arrow asks without a letter; Escape leaves the list, and the dialog where it is.
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await expect(options).toHaveText(['John', 'Kim', 'Lee']);
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('option', { selected: true })).toHaveText('Lee');
  await page.keyboard.press('Escape');
  await expect(options).toHaveCount(0);
  await expect(name).toBeFocused();
  await page.keyboard.type('K');
  await options.getByText('Kim').click();
  await expect(name).toHaveValue('Kim');
  await expect(name).toBeFocused();

  // The server stands still: what is typed is there all the same.
  const running = processesOf(everything);
  for (const pid of running) process.kill(pid, 'SIGSTOP');
  await department.fill('Sale');
  await page.keyboard.type('s');
  await expect(department).toHaveValue('Sales');
  await expect(options).toHaveCount(0);
  for (const pid of running) process.kill(pid, 'SIGCONT');

  // A value of several lines is written in a field for a text.
  await name.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Possible');
  await expect(dialog.getByRole('textbox', { name: 'name' })).toHaveValue('Kim\nPossible');
  await dialog.getByRole('button', { name: 'Insert' }).click();
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue(
    'Please promote Kim\nPossible to the head of the Sales team.',
  );
  expect(problems).toEqual([]);
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
