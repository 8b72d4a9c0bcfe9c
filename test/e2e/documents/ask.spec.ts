import { answers, ask, begin, expect, finished, neverEnd, rows, test, textOf } from '../app.ts';

test.beforeEach(async ({ page, app }) => begin(page, app));

test('asks, reads, and keeps everything over a reload', async ({ page, problems }) => {
  await ask(page, 'Tell me a story.');
  await expect(page.locator('#composer')).toHaveValue('');
  await expect(page.locator('#composer')).toBeFocused();
  await expect(finished(page)).toBeVisible();
  await expect(page.getByText(/tok\/s/)).toBeVisible();
  const text = await textOf(answers(page).first().locator('.prose'));
  expect(text.length).toBeGreaterThan(10);
  await page.reload();
  await rows(page).first().click();
  await expect(answers(page).first().locator('.prose')).toHaveText(text);
  expect(problems).toEqual([]);
});

test('stops at once, says so, and goes on in the same message', async ({ page }) => {
  await neverEnd(page);
  await ask(page, 'Go on for ever.');
  const prose = answers(page).locator('.prose');
  await expect(prose).not.toHaveText('');
  await page.keyboard.press('Escape');
  await expect(page.getByText('Stopped by you')).toBeVisible();
  const before = (await textOf(prose)).length;
  await page.waitForTimeout(300);
  expect((await textOf(prose)).length).toBe(before);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect.poll(async () => (await textOf(prose)).length).toBeGreaterThan(before);
  await page.getByRole('button', { name: 'Stop generating' }).hover();
  await expect(page.getByRole('tooltip')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByText('Stopped by you')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop generating' })).toBeHidden();
  await expect(answers(page)).toHaveCount(1);
});

test('a message sent while writing waits, can be taken back, and is sent at the end', async ({ page }) => {
  await neverEnd(page);
  await ask(page, 'First.');
  await expect(page.getByRole('button', { name: 'Stop generating' })).toBeVisible();
  await ask(page, 'Second.');
  await expect(page.getByText('Sent next')).toBeVisible();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await expect(page.locator('#composer')).toHaveValue('Second.');
  await expect(page.getByText('Sent next')).toBeHidden();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Sent next')).toBeVisible();
  await page.getByRole('button', { name: 'Stop generating' }).click();
  await expect(answers(page)).toHaveCount(2);
});

test('what waited when Longhand ended is there, is sent by hand, and the rest follows', async ({ page, app }) => {
  const question = (text: string) => page.getByRole('article', { name: 'You', exact: true }).filter({ hasText: text });
  const waiting = page.getByRole('list', { name: 'Queued messages' });
  await neverEnd(page);
  await ask(page, 'Go on for ever.');
  await ask(page, 'one');
  await ask(page, 'two');
  await expect(waiting.getByRole('listitem')).toHaveCount(2);
  await page.reload();
  await rows(page).first().click();
  await expect(page.getByText('Sent next')).toBeVisible();
  await app.killAndRestart();
  await page.goto(app.address);
  await rows(page).first().click();
  await expect(page.getByText('Not sent yet')).toBeVisible();
  await waiting.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(question('one')).toBeVisible();
  await page.getByRole('button', { name: 'Stop generating' }).click();
  await expect(question('two')).toBeVisible();
  await expect(waiting).toBeHidden();
});

test('versions: try again, edit the question, walk with the pager', async ({ page }) => {
  await ask(page, 'Name a colour.');
  await expect(finished(page)).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('img', { name: 'Version 2 of 2' })).toBeVisible();
  await expect(finished(page)).toBeVisible();
  await page.getByRole('button', { name: 'Previous version' }).click();
  await expect(page.getByRole('img', { name: 'Version 1 of 2' })).toBeVisible();
  await page.locator('#composer').focus();
  await page.keyboard.press('ArrowUp');
  await page.getByRole('textbox', { name: 'Edit message' }).fill('Name an animal.');
  await page.keyboard.press('Control+Enter');
  const edited = page.locator('article', { hasText: 'Name an animal.' });
  await expect(edited).toBeVisible();
  await expect(finished(page)).toBeVisible();
  await edited.getByRole('button', { name: 'Previous version' }).click();
  await expect(page.locator('article', { hasText: 'Name a colour.' })).toBeVisible();
});

test('a branch begins at an earlier answer, by button and by key, and the pager leads back', async ({ page }) => {
  await ask(page, 'Name a colour.');
  await expect(finished(page)).toBeVisible();
  await ask(page, 'Name an animal.');
  await expect(finished(page)).toHaveCount(2);
  const first = answers(page).first();
  await first.hover();
  await first.getByRole('button', { name: 'Branch from here' }).click();
  await expect(page.getByText('Your next message starts a branch here')).toBeVisible();
  await expect(page.locator('article', { hasText: 'Name an animal.' })).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(page.locator('article', { hasText: 'Name an animal.' })).toBeVisible();
  // The focus is on a button, whose tooltip is open: Esc means the same.
  await first.getByRole('button', { name: 'Branch from here' }).click();
  const cancel = page.getByRole('button', { name: 'Cancel branch' });
  await cancel.focus();
  await cancel.hover();
  await expect(page.getByRole('tooltip')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('article', { hasText: 'Name an animal.' })).toBeVisible();
  await answers(page).first().focus();
  await page.keyboard.press('Control+Shift+B');
  await expect(page.locator('#composer')).toBeFocused();
  await ask(page, 'Name a river.');
  await expect(page.getByText('Your next message starts a branch here')).toBeHidden();
  const branched = page.locator('article', { hasText: 'Name a river.' });
  await expect(branched.getByRole('img', { name: 'Version 2 of 2' })).toBeVisible();
  await expect(finished(page)).toHaveCount(2);
  await branched.getByRole('button', { name: 'Previous version' }).click();
  await expect(page.locator('article', { hasText: 'Name an animal.' })).toBeVisible();
});

test('the draft is kept per chat, over switches and reloads', async ({ page }) => {
  await ask(page, 'One.');
  await expect(finished(page)).toBeVisible();
  await page.locator('#composer').fill('half a thought');
  await page.keyboard.press('Alt+n');
  await expect(page.locator('#composer')).toHaveValue('');
  await page.locator('#composer').fill('another');
  await page.reload();
  await expect(page.locator('#composer')).toHaveValue('another');
  await rows(page).first().click();
  await expect(page.locator('#composer')).toHaveValue('half a thought');
});

test('rename, pin, search with highlights, delete and undo', async ({ page }) => {
  await ask(page, 'Where do xylophones grow?');
  await expect(finished(page)).toBeVisible();
  const row = rows(page).first();
  await row.focus();
  await page.keyboard.press('F2');
  await page.getByRole('textbox', { name: 'Chat title' }).fill('Music');
  await page.keyboard.press('Enter');
  await expect(row).toHaveText('Music');
  await row.click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Pin' }).click();
  await expect(page.getByRole('heading', { name: 'Pinned' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('xylophones');
  await expect(page.getByRole('option').locator('mark', { hasText: 'xylophones' }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await row.focus();
  await page.keyboard.press('Delete');
  await expect(page.getByText('Chat deleted', { exact: true })).toBeVisible();
  await expect(row).toBeHidden();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row).toHaveText('Music');
});

test('two windows show the same chat', async ({ page, app, context }) => {
  await ask(page, 'Hello there.');
  await expect(finished(page)).toBeVisible();
  const other = await context.newPage();
  await other.goto(app.address);
  await rows(other).first().click();
  await expect(other.locator('article', { hasText: 'Hello there.' })).toBeVisible();
  await ask(page, 'And again.');
  await expect(other.locator('article', { hasText: 'And again.' })).toBeVisible();
});

test('a file goes along as text, and is named with its tokens', async ({ page }) => {
  const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The sky is green on Tuesdays.') };
  await page.locator('input[type=file]').setInputFiles(file);
  await expect(page.getByRole('list', { name: 'Attachments' }).getByText('notes.txt')).toBeVisible();
  await ask(page, 'What is in the file?');
  await expect(page.locator('article', { hasText: 'notes.txt' })).toBeVisible();
  await expect(finished(page)).toBeVisible();
});

test('two files of one name are two: one is taken out, the other goes along', async ({ page }) => {
  const list = page.getByRole('list', { name: 'Attachments' });
  for (const text of ['The sky is green.', 'The sea is red.']) {
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
    await expect(list.getByText('notes.txt').last()).toBeVisible();
  }
  await expect(list.getByText('notes.txt')).toHaveCount(2);
  await list.getByRole('button', { name: 'Remove notes.txt' }).first().click();
  await expect(list.getByText('notes.txt')).toHaveCount(1);
  await ask(page, 'What is in the file?');
  await expect(page.locator('article', { hasText: 'What is in the file?' }).getByText('notes.txt')).toHaveCount(1);
});

test('a wrong address of a mirror is told in a sentence, stays in the field, and nothing is kept', async ({ page }) => {
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Downloads' }).click();
  const mirror = page.getByRole('textbox', { name: 'Hub mirror' });
  await mirror.fill('hub example');
  await mirror.press('Enter');
  await expect(page.getByText('Enter a full web address, such as https://hub.example.org.')).toBeVisible();
  await expect(mirror).toHaveValue('hub example');
  expect(await page.locator('body').textContent()).not.toMatch(/\[[a-z.]+\] |Invalid URL/);
  await page.reload();
  await page.keyboard.press('Control+,');
  await page.getByRole('button', { name: 'Downloads' }).click();
  await expect(mirror).toHaveValue('');
});

test('settings take effect at once and stay', async ({ page }) => {
  const rootSize = () => page.evaluate(() => getComputedStyle(document.documentElement).fontSize);
  await page.keyboard.press('Control+,');
  await page.getByRole('radio', { name: 'Dark' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('slider', { name: 'Text size' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(rootSize).toBe('18px');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect.poll(rootSize).toBe('18px');
});
