import type { Page } from '@playwright/test';
import { setPage, writePdf } from '../../support/documents/paper.ts';
import { ask, begin, expect, test } from '../app.ts';

//  A full context, with the real model: nothing is sent or dropped before the choice, and what is set aside comes back.

const story = 'The old mill by the river was sold in autumn, and its wheel and its ledger went to the harbour. ';
const ended = /^(Finished|Reached the length)/;
const dialog = (page: Page) => page.getByRole('dialog', { name: 'This message does not fit' });

/** Three short turns in a context of 1024 tokens, and a message that does not fit any more. */
async function fill(page: Page): Promise<string> {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Engine', exact: true }).click();
  await page.getByRole('textbox', { name: 'Context size' }).fill('1024');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('0');
  await page.getByRole('textbox', { name: 'Maximum answer length' }).fill('12');
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  for (let turn = 1; turn <= 3; turn++) {
    await ask(page, `${turn}. ${story.repeat(7)}`);
    await expect(page.locator('article')).toHaveCount(2 * turn);
    await expect(page.locator('article').last().getByText(ended)).toBeVisible();
  }
  const text = story.repeat(20).trim();
  await ask(page, text);
  await expect(dialog(page)).toBeVisible();
  return text;
}

test.beforeEach(async ({ page, app }) => begin(page, app));

test('cancelled, the text is back and nothing was sent; set aside, it is sent, and a line brings the rest back', async ({
  page,
  problems,
}) => {
  const text = await fill(page);
  await expect(dialog(page).getByRole('radio', { name: /^Increase the context/ })).toBeChecked();
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('#composer')).toHaveValue(text);
  await expect(page.locator('article')).toHaveCount(6);

  await page.locator('#composer').press('Enter');
  await dialog(page)
    .getByRole('radio', { name: /oldest turns? aside/ })
    .click();
  await dialog(page).getByRole('button', { name: 'Set aside and continue' }).click();
  await expect(page.locator('#composer')).toHaveValue('');
  await expect(page.getByText('The model does not see anything above this line')).toBeVisible();
  await expect(page.locator('article').last().getByText(ended)).toBeVisible();
  await page.reload();
  await page.getByRole('navigation', { name: 'Chats' }).locator('[data-row]').first().click();
  await page.getByRole('button', { name: 'Bring back' }).click();
  await expect(page.getByText('The model sees everything again')).toBeVisible();
  await page.getByRole('button', { name: 'Set aside again' }).click();
  await expect(page.getByText('The model does not see anything above this line')).toBeVisible();
  expect(problems.filter((problem) => !problem.includes('WebSocket'))).toEqual([]);
});

test('a summary can be read and corrected before it stands for the oldest turns', async ({ page }) => {
  await fill(page);
  await dialog(page)
    .getByRole('radio', { name: /^Summarise/ })
    .click();
  await dialog(page).getByRole('button', { name: 'Write summary' }).click();
  const summary = page.getByRole('textbox', { name: 'Summary of the oldest turns' });
  await expect(page.getByRole('button', { name: 'Use and continue' })).toBeEnabled();
  await expect(summary).not.toHaveValue('');
  await summary.fill('A mill was sold.');
  await page.getByRole('button', { name: 'Use and continue' }).click();
  await expect(page.getByText('The model sees a summary of everything above this line')).toBeVisible();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByText('A mill was sold.', { exact: true })).toBeVisible();
});

test('a larger context is made and the message goes on by itself', async ({ page }) => {
  await fill(page);
  await dialog(page)
    .getByRole('button', { name: /^Increase to .* and continue$/ })
    .click();
  await expect(dialog(page)).toBeHidden();
  await expect(page.locator('article').last().getByText(ended)).toBeVisible();
  await expect(page.getByText('The model does not see anything above this line')).toBeHidden();
});

const attach = (page: Page, name: string, mimeType: string, buffer: Buffer) =>
  page.locator('input[type=file][aria-label="Attach files"]').setInputFiles({ name, mimeType, buffer });

/** The answers come from what was found, and from nothing else. */
async function expectAnswerFrom(page: Page, name: string): Promise<void> {
  await expect(page.getByText(`“${name}” is searched, not read in full`, { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: `Documents: ${name}` })).toBeVisible();
}

test('a file that is too long for the context is searched without a question, and the answer comes from it', async ({
  page,
}) => {
  test.slow();
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Engine', exact: true }).click();
  await page.getByRole('textbox', { name: 'Context size' }).fill('1024');
  await page.getByRole('button', { name: 'Sampling' }).click();
  await page.getByRole('textbox', { name: 'Temperature' }).fill('0');
  await page.getByRole('textbox', { name: 'Maximum answer length' }).fill('40');
  await page
    .getByRole('navigation', { name: 'New chat and search' })
    .getByRole('button', { name: /^New chat/ })
    .click();
  const chapters = Array.from({ length: 80 }, (_, at) => `Chapter ${at}. ${story.repeat(4)}\n\n`);
  chapters.splice(40, 0, 'The keeper of the lighthouse is Maren Holt. She lights a copper lantern at dusk.\n\n');
  await attach(page, 'harbour.txt', 'text/plain', Buffer.from(chapters.join('')));
  await expect(page.getByRole('list', { name: 'Attachments' })).toContainText('tokens');
  await ask(page, 'Who is the keeper of the lighthouse?');
  const step = page.getByRole('dialog', { name: '“harbour.txt” is too long to read in full' });
  await expect(step).toBeVisible();
  await expect(step).toBeHidden({ timeout: 60_000 });
  await expectAnswerFrom(page, 'harbour.txt');
  await expect(page.getByText(ended)).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('button', { name: /^From your documents/ })).toContainText('Maren Holt');
  await expect(page.getByRole('list', { name: 'Attachments' })).toBeHidden();

  // Stopped, everything is as it was; other options are one click away.
  // As long as a book, so that there is time to stop it.
  await attach(page, 'again.txt', 'text/plain', Buffer.from(chapters.join('').repeat(40)));
  await expect(page.getByRole('list', { name: 'Attachments' })).toContainText('tokens');
  await page.locator('#composer').fill('And who lights the lantern?');
  await page.locator('#composer').press('Enter');
  await page.getByRole('button', { name: 'Other options' }).click();
  await expect(dialog(page).getByRole('radio', { name: /^Search the text/ })).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('#composer')).toHaveValue('And who lights the lantern?');
  await expect(page.getByRole('list', { name: 'Attachments' })).toContainText('again.txt');
  await expect(page.getByRole('button', { name: 'Documents: harbour.txt' })).toBeVisible();
});

test('a file that is no plain text is searched too: a PDF attached to a message answers its question', async ({
  page,
}) => {
  test.slow();
  const pdf = writePdf(
    [setPage([{ text: 'The keeper of the lighthouse is Maren Holt. She lights a copper lantern at dusk.' }])],
    'The harbour of Varn',
  );
  await attach(page, 'varn.pdf', 'application/pdf', Buffer.from(pdf));
  await expectAnswerFrom(page, 'varn.pdf');
  await ask(page, 'Who is the keeper of the lighthouse?');
  await expect(page.getByText(ended)).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('button', { name: /^From your documents/ })).toContainText('Maren Holt');

  // What is neither says so, and nothing of it stays.
  await attach(page, 'noise.bin', 'application/octet-stream', Buffer.from([0, 1, 2, 3, 255, 254]));
  await expect(page.getByRole('list', { name: 'Attachments' })).toContainText('noise.bin');
  await expect(page.getByRole('button', { name: 'Documents: varn.pdf' })).toBeVisible();

  // Two of one name are two; one is taken away.
  for (const text of ['one', 'another']) await attach(page, 'notes.txt', 'text/plain', Buffer.from(text));
  const notes = page.getByRole('list', { name: 'Attachments' }).getByRole('button', { name: 'Remove notes.txt' });
  await expect(notes).toHaveCount(2);
  await notes.first().click();
  await expect(notes).toHaveCount(1);
});
