import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { setPage, writePdf } from '../../support/documents/paper.ts';
import { startHub } from '../../support/fakes/hub.ts';
import { starterFiles } from '../../support/models/models.ts';
import { answers, ask, expect, finished, rows, test } from '../app.ts';
import { list, wordsUnder } from '../documents/shelf.ts';
import { dropOn } from '../drag.ts';
import { logOf, SEEN } from './recording.ts';

//  The first ten minutes of a newcomer, from the first window on: real app, real model, a real file dropped, a hub that runs here.
//  LONGHAND_RECORD writes what Playwright's trace says of it to FIRST-TEN-MINUTES.md beside this file.

const harbour = writePdf(
  [
    setPage([{ text: 'The keeper of the lighthouse is Maren Holt. She lights a copper lantern at dusk.' }]),
    setPage([{ text: 'In the winter of 1887 the tower stood in ice for nineteen days.' }]),
  ],
  'The harbour of Varn',
);

const folder = mkdtempSync(join(tmpdir(), 'longhand-newcomer-'));
const file = join(folder, 'harbour.pdf');
writeFileSync(file, harbour);
let hub: Awaited<ReturnType<typeof startHub>>;

test.beforeAll(async () => {
  hub = await startHub({ files: starterFiles() });
});
test.afterAll(async () => {
  await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/performance/useDomNodeTextContent: what is seen, with its line breaks, is wanted
const seenIn = (place: Locator) => place.innerText();
const openPage = (page: Page, name: RegExp) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name }).click();

test('the first ten minutes: start, a question, a document, its marked sentence, a model, settings', async ({
  page,
  context,
  app,
  problems,
}) => {
  test.slow();
  const trace = join(folder, 'trace.zip');
  await context.tracing.start({ title: 'first ten minutes' });
  const step = async (title: string, act: () => Promise<string>) => {
    await context.tracing.group(title);
    const seen = await act();
    await context.tracing.groupEnd();
    expect(seen.trim()).not.toBe('');
    await context.tracing.group(`${SEEN}${seen.trim().replace(/\s*\n\s*/g, ' | ')}`);
    await context.tracing.groupEnd();
  };

  await step('Longhand is opened for the first time', async () => {
    await page.goto(app.address);
    await expect(page.getByRole('heading', { name: 'Longhand is ready' })).toBeVisible();
    const speed = page.getByText(/^Writes (about|more than) \d+ words per second$/).first();
    await expect(speed).toBeVisible({ timeout: 60_000 });
    const names = await page.getByRole('main').getByRole('heading').allTextContents();
    return `${names.join('; ')}; ${await seenIn(speed)}`;
  });

  await step('The built-in model is enough to begin with', async () => {
    await page.getByRole('button', { name: 'Start chatting', exact: true }).click();
    await expect(page.locator('#composer')).toBeFocused();
    const heading = await seenIn(page.getByRole('heading', { name: 'What are you working on?' }));
    return `${heading} ${(await page.getByRole('list', { name: 'Suggestions' }).getByRole('listitem').allTextContents()).join('; ')}`;
  });

  await step('A first question', async () => {
    await page.getByRole('button', { name: 'What can you do?' }).click();
    await expect(page.locator('#composer')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(finished(page)).toBeVisible();
    return seenIn(answers(page).last().locator('.prose'));
  });

  await step('A PDF is dropped on the window', async () => {
    await dropOn(page, 'My documents', file);
    await expect(list(page).getByRole('button', { name: /harbour/i })).toBeVisible({ timeout: 30_000 });
    return seenIn(list(page));
  });

  await step('A question about it', async () => {
    await list(page)
      .getByRole('button', { name: /harbour/i })
      .click();
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await ask(page, 'Who is the keeper of the lighthouse?');
    const quote = page.getByRole('button', { name: /^From your documents/ });
    await expect(quote).toContainText('“The keeper of the lighthouse is Maren Holt.”', { timeout: 60_000 });
    return seenIn(quote);
  });

  await step('The quoted sentence is followed to its page', async () => {
    await page.getByRole('button', { name: /^From your documents/ }).click();
    await expect.poll(() => wordsUnder(page, 'current')).toBe('The keeper of the lighthouse is Maren Holt.');
    return `marked on the page: ${await wordsUnder(page, 'current')}`;
  });

  await step('A question that the document does not answer', async () => {
    await ask(page, 'What did a kilogram of saffron cost in Lisbon?');
    const refusal = page.getByRole('region', { name: 'Not in your documents' });
    await expect(refusal).toBeVisible({ timeout: 60_000 });
    return seenIn(refusal);
  });

  await step(
    'Settings: dark, and where models come from (a server on this computer, so that the recording needs no network)',
    async () => {
      await page.keyboard.press('Control+,');
      await page.getByRole('button', { name: 'Appearance', exact: true }).click();
      await page.getByRole('radiogroup', { name: 'Theme' }).getByRole('radio', { name: 'Dark' }).click();
      await page.getByRole('button', { name: 'Downloads', exact: true }).click();
      const mirror = page.getByRole('textbox', { name: 'Hub mirror' });
      await mirror.fill(hub.url);
      await mirror.press('Enter');
      await expect(page.locator('[aria-invalid=true]')).toHaveCount(0);
      return `theme ${await page.evaluate(() => document.documentElement.dataset.theme ?? 'of the system')}`;
    },
  );

  await step('A model is looked for and downloaded', async () => {
    await openPage(page, /^Models/);
    await page.getByRole('radio', { name: /^Catalogue/ }).click();
    const search = page.getByRole('textbox', { name: 'Search, or paste a link' });
    await search.fill('tiny');
    await search.press('Enter');
    await page.getByRole('button', { name: /^acme\/tiny/ }).click();
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByRole('button', { name: 'Allow and download' }).click();
    const ready = page.getByText(/is ready to use$/);
    await expect(ready).toBeVisible({ timeout: 60_000 });
    return seenIn(ready);
  });

  await step('The new model answers', async () => {
    await page.getByRole('main').getByRole('button', { name: 'Start a chat', exact: true }).click();
    await ask(page, 'What is your name?');
    await expect(finished(page)).toBeVisible({ timeout: 60_000 });
    return seenIn(answers(page).last().locator('.prose'));
  });

  await step('The window is loaded again, as a browser does at the next start', async () => {
    await page.reload();
    await expect(answers(page).last()).toBeVisible();
    return `the open chat, and ${await rows(page).count()} chats beside it: ${(await rows(page).allTextContents()).join('; ')}`;
  });

  await context.tracing.stop({ path: trace });
  expect(problems).toEqual([]);
  const log = logOf(trace);
  // Ten steps at least, each with what was seen, and the clicks and words that led there.
  expect(log.filter((line) => line.includes('  sees: ')).length).toBeGreaterThanOrEqual(10);
  expect(log.filter((line) => /(clicks|types|presses) /.test(line)).length).toBeGreaterThanOrEqual(20);
  if (process.env.LONGHAND_RECORD) writeFileSync(join(import.meta.dirname, 'first-ten-minutes.md'), asPage(log));
});

const asPage = (log: readonly string[]): string => `# The first ten minutes

What a newcomer does first, and what they see: the real app in Chromium with the built-in model, a real PDF, and a server for models
on this computer. Made from Playwright's trace by \`LONGHAND_RECORD=1 npm test -- ten-minutes\`; times are those of the machine, without
the time that a person thinks. What a model writes differs each time.

\`\`\`text${log.join('\n')}
\`\`\`
`;
