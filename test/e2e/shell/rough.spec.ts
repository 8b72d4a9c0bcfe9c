import { answers, ask, begin, expect, neverEnd, rows, test, textOf } from '../app.ts';

//  What people do to a page without waiting for it: pressing twice, changing their mind, two windows, too much of everything.

const stop = 'Stop generating';

test.use({ unhurried: true });

test('while an answer is written: edit, other versions, queue, settings, delete and undo', async ({
  page,
  app,
  problems,
}) => {
  test.slow();
  await begin(page, app);
  await neverEnd(page, 2500);
  await ask(page, 'First.');
  await expect(answers(page).locator('.prose')).not.toHaveText('');

  await page.locator('#composer').press('ArrowUp');
  await page.getByRole('textbox', { name: 'Edit message' }).fill('Go on for ever.');
  await page.getByRole('button', { name: 'Save and send' }).dblclick();
  const edited = page.locator('article', { hasText: 'Go on for ever.' });
  await expect(edited.getByRole('img', { name: 'Version 2 of 2' })).toBeVisible();
  await expect(answers(page).locator('.prose')).not.toHaveText('');

  await page.getByRole('button', { name: 'Branches of this chat' }).click();
  await page.getByRole('menuitemradio', { name: 'First.' }).click();
  await expect(page.getByText('Stopped by you')).toBeVisible();
  await page.getByRole('button', { name: 'Branches of this chat' }).click();
  await page.getByRole('menuitemradio', { name: 'Go on for ever.' }).click();
  await expect(edited).toBeVisible();

  await ask(page, 'Second.');
  // At once, or when the answer before it has come to its end.
  await expect(page.locator('article', { hasText: 'Second.' })).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText('Sent next')).toBeHidden();

  await page.keyboard.press('Control+,');
  await page.getByRole('radio', { name: 'Dark' }).click();
  await rows(page).first().click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');

  await rows(page).first().focus();
  await page.keyboard.press('Delete');
  await expect(rows(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole('button', { name: stop })).toBeHidden();
  await expect(answers(page).last().getByRole('button', { name: 'Try again' })).toBeVisible();
  expect(problems).toEqual([]);
});

test('five messages wait in order and are moved by keys, however fast; a sixth finds no room', async ({
  page,
  scene,
}) => {
  await scene('thinking');
  const list = page.getByRole('list', { name: 'Queued messages' });
  const row = (text: string) => list.getByRole('listitem').filter({ hasText: text });
  const waiting = () => list.locator('bdi').allTextContents();
  const [videos, undated] = ['And the videos?', 'And what of pictures without a date?'];
  for (const text of ['three', 'four', 'five']) await ask(page, text);
  await expect.poll(waiting).toEqual([videos, undated, 'three', 'four', 'five']);

  await ask(page, 'six');
  await expect(page.getByText('The queue is full')).toBeVisible();
  await expect(page.locator('#composer')).toHaveValue('six');
  await row('five').getByRole('button', { name: 'Remove from queue' }).press('Enter');
  await expect(page.locator('#composer')).toBeFocused();
  await expect(page.getByText('The queue is full')).toBeHidden();
  await page.keyboard.press('Enter');
  await expect.poll(waiting).toEqual([videos, undated, 'three', 'four', 'six']);

  await row('three').getByRole('button', { name: 'Move up' }).focus();
  for (let times = 0; times < 3; times++) await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(waiting).toEqual(['three', videos, undated, 'four', 'six']);
  await expect(page.getByRole('status').filter({ hasText: 'Position 1 of 5 in the queue' })).toBeAttached();
  await expect(row('three').getByRole('button', { name: 'Move down' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect.poll(waiting).toEqual([videos, 'three', undated, 'four', 'six']);

  await row('four').getByRole('button', { name: 'Edit' }).click();
  await expect(page.locator('#composer')).toHaveValue('four');
  await expect.poll(waiting).toEqual([videos, 'three', undated, 'six']);
});

test('two windows edit one message: both edits are versions of it, and both windows show the newer', async ({
  page,
  app,
  context,
}) => {
  await begin(page, app);
  await ask(page, 'Name a colour.');
  await expect(page.getByText('Finished', { exact: true })).toBeVisible();
  const other = await context.newPage();
  await other.goto(app.address);
  await rows(other).first().click();
  for (const [window, text] of [
    [page, 'Name a red.'],
    [other, 'Name a blue.'],
  ] as const) {
    await expect(answers(window)).toHaveCount(1);
    await window.locator('article', { hasText: 'Name a colour.' }).hover();
    await window.getByRole('button', { name: 'Edit message' }).click();
    await window.getByRole('textbox', { name: 'Edit message' }).fill(text);
  }
  await page.getByRole('button', { name: 'Save and send' }).click();
  await expect(page.locator('article', { hasText: 'Name a red.' })).toBeVisible();
  await expect(other.getByRole('textbox', { name: 'Edit message' })).toHaveValue('Name a blue.');
  await other.getByRole('button', { name: 'Save and send' }).click();
  for (const window of [page, other]) {
    const last = window.locator('article', { hasText: 'Name a blue.' });
    await expect(last.getByRole('img', { name: 'Version 3 of 3' })).toBeVisible();
  }
});

test('five megabytes pasted go along as a file, and the page stays usable', async ({ page, app }) => {
  await begin(page, app);
  await page.locator('#composer').evaluate((field) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'All work and no play makes a dull page. '.repeat(125_000));
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  const attached = page.getByRole('list', { name: 'Attachments' });
  await expect(attached).toContainText('Pasted text.txt');
  await page.locator('#composer').fill('What is this?');
  await expect(page.locator('#composer')).toHaveValue('What is this?');
});

test('Return pressed twice at once on a new chat makes one chat with one message', async ({ page, scene }) => {
  await scene('empty');
  const before = await rows(page).count();
  await page.locator('#composer').fill('Only once.');
  await page.locator('#composer').evaluate((field) => {
    for (let time = 0; time < 2; time++)
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
  });
  await expect(page.locator('article', { hasText: 'You said: Only once.' })).toBeVisible();
  await expect(page.locator('article')).toHaveCount(2);
  await expect(rows(page)).toHaveCount(before + 1);
});

test('a thousand chats, some named with emoji or from right to left: few are drawn, all are reached', async ({
  page,
  scene,
}) => {
  await scene('many');
  const list = page.getByRole('navigation', { name: 'Chats' });
  await expect(rows(page).first()).toBeVisible();
  expect(await rows(page).count()).toBeLessThan(100);
  await expect(list.getByText('شكرا جزيلا على الرسالة')).toHaveCSS('direction', 'rtl');
  await rows(page).first().focus();
  for (let row = 0; row < 60; row++) await page.keyboard.press('ArrowDown');
  await expect.poll(() => textOf(page.locator(':focus'))).toBe('Chat 61'); // rows are drawn a few frames after their keys
  await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await expect(list.getByText('Chat 1000')).toBeVisible();
});

test('a full disk is told once, and that there is room again takes its place', async ({ page, scene }) => {
  await scene('empty');
  const say = (code: 'disk-full' | 'saved-again') =>
    page.evaluate((said) => window.page.core.emit('notice', { code: said, details: {} }), code);
  const full = page.getByRole('alert').filter({ hasText: 'The disk is full' });
  await say('disk-full');
  await say('disk-full');
  await expect(full).toHaveCount(1);
  await say('saved-again');
  await expect(full).toHaveCount(0);
  const free = page.getByRole('status').filter({ hasText: 'Saving works again' });
  await expect(free).toBeVisible();
  await free.getByRole('button', { name: 'Close' }).click();
  await expect(free).toBeHidden();
});
