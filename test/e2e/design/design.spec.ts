import type { Page } from '@playwright/test';
import { expect, type PageTools, sceneTest as test } from '../app.ts';

declare global {
  interface Window {
    page: PageTools;
  }
}

//  What a designer asked for, looked at in the page: each in the words that stand on the screen.

const primaries = (page: Page) => page.getByRole('main').locator('button.bg-ink');

test('the line under an answer says its speed and why it ended; other figures are in the panel that the speed opens', async ({
  page,
  scene,
}) => {
  await scene('speed');
  const line = page.locator('article footer').last();
  await expect(line).toHaveText(/^[\d.]+\stok\/sFinished\d\/\d$/);
  await line.getByRole('button', { name: /^Speed of this answer/ }).click();
  const panel = page.getByRole('region', { name: 'Speed', exact: true });
  for (const figure of ['First token', 'Prefill', 'Decode (median)', 'Tokens written', 'Peak memory'])
    await expect(panel.getByText(figure, { exact: true }).first()).toBeVisible();
});

test('nothing is counted under an answer that found nothing', async ({ page, scene }) => {
  await scene('not-found');
  await expect(page.getByText('Not sure. Closest passage:')).toBeVisible();
  const line = page.locator('article footer').last();
  await expect(line.getByRole('button').first()).toBeVisible();
  await expect(line).toHaveText('');
});

test('the first window puts the model worth having first, and says what it is for and how fast it writes', async ({
  page,
  scene,
}) => {
  await scene('onboarding');
  await expect(primaries(page)).toHaveText(['Download and start chatting']);
  const card = page.getByRole('region').filter({ has: page.locator('button.bg-ink') });
  await expect(card).toContainText('Good for writing and reasoning.');
  await expect(card).toContainText(/Writes about \d+ words per second/);
  await expect(page.getByRole('main')).not.toContainText(/parameters|billion|tok\/s/);
});

test('each model of the catalogue has one plain line and one button; layers stand under Details', async ({
  page,
  scene,
}) => {
  await scene('catalogue');
  const models = page.getByRole('list', { name: 'Catalogue' }).getByRole('listitem');
  await expect(models.first()).toBeVisible();
  for (const model of await models.all()) {
    await expect(model).toContainText(/(Good for|Fast|Finds) .+, [\d.]+\sGB computers/);
    await expect(model.getByRole('button', { name: /^(Download .+, about|Start a chat with) / })).toHaveCount(1);
  }
  await expect(primaries(page).filter({ hasText: 'Download' })).toHaveCount(1);
  const facts = page.getByText(/parameters\. Longest context:/);
  await expect(facts).toBeHidden();
  await page.getByText('Details', { exact: true }).click();
  await expect(facts).toBeVisible();
});

test('the picker leads to more models and has no field for a path', async ({ page, scene }) => {
  await scene('chat');
  await page.evaluate(() => window.page.useChat.getState().setOverlay({ kind: 'model-picker' }));
  const more = page.getByText('Get more models…');
  await expect(more).toBeVisible();
  await expect(page.getByPlaceholder(/path/i)).toHaveCount(0);
  await more.click();
  await expect(page.getByRole('radio', { name: /^Catalogue/ })).toBeChecked();
});

test('the list of chats fades out above the status, and its last row comes clear of the fade', async ({
  page,
  scene,
}) => {
  await scene('many');
  const list = page.getByRole('navigation', { name: 'Chats' });
  const rows = list.locator('[data-row]');
  await expect(rows.first()).toBeVisible();
  const scroller = page.locator('[class*="mask-b-from"]').first();
  expect(await scroller.evaluate((one) => getComputedStyle(one).maskImage)).toContain('linear-gradient');
  await rows.first().focus();
  await page.keyboard.press('ArrowUp');
  for (let row = 0; row < 40; row += 1) await page.keyboard.press('ArrowDown');
  await expect
    .poll(async () => {
      const last = await page.locator('[data-row]:focus, [data-row]:has(:focus)').boundingBox();
      const edge = await scroller.boundingBox();
      return last && edge ? Math.round(edge.y + edge.height - last.y - last.height) : -1;
    })
    .toBeGreaterThanOrEqual(24);
});

test('the card of a loop quotes from the beginning of a sentence and gives a round time', async ({ page, scene }) => {
  await scene('loop');
  const card = page.getByRole('alert', { name: 'Repeating itself' });
  await expect(card).toContainText(/×7/);
  await expect(card).toContainText('But maybe Cem and Dana could swap.');
  await expect(card).toContainText(/tokens saved, about (\d+\sh|\d+\smin|(\d+\smin\s)?\d?[05]\ss)/);
});

test('the pointer stops the countdown of the card, and what it points at stays where it is', async ({
  page,
  scene,
}) => {
  await scene('loop');
  const card = page.getByRole('alert', { name: 'Repeating itself' });
  await expect(card).toBeVisible();
  // It goes on, and pauses again while somebody looks.
  const say = (type: 'decided' | 'paused') =>
    page.evaluate((said) => {
      const { core, useChat, useSettings } = window.page;
      const { values } = useSettings.getState();
      useSettings.setState({ values: { ...values, loopGuard: { ...values.loopGuard, waitSeconds: 20 } } });
      const { chat, messages } = useChat.getState().open ?? {};
      const message = [...(messages?.values() ?? [])].at(-1);
      const [evidence] = message?.loops ?? [];
      if (!chat || !message || !evidence) throw new Error('[scene] no loop');
      const event =
        said === 'decided'
          ? { type: said, choice: 'keep-going' as const }
          : {
              type: said,
              evidence,
              choices: ['answer-now', 'rewind', 'stop'] as never,
              suggested: 'answer-now' as const,
            };
      core.emit('turn', { chatId: chat.id, messageId: message.id, turnId: 'turn' as never, event });
    }, type);
  await say('decided');
  await expect(card).toBeHidden();
  await say('paused');
  const ring = card.getByRole('button', { name: 'Answer now' }).locator('circle').first();
  const rewind = card.getByRole('button', { name: 'Rewind and retry' });
  await expect(ring).toBeVisible();
  const before = await rewind.boundingBox();
  await rewind.hover();
  await expect(ring).toBeHidden();
  expect(await rewind.boundingBox()).toEqual(before);
});

for (const [scenery, section] of [
  ['performance', null],
  ['models', null],
  ['server', null],
  ['empty', 'engine'],
] as const)
  test(`${section ?? scenery}: round figures have no ".0", and nothing is called "cpu" or "0.0"`, async ({
    page,
    scene,
  }) => {
    await scene(scenery);
    if (section)
      await page.evaluate(
        (chosen) => window.page.useShell.getState().go({ kind: 'settings', section: chosen }),
        section,
      );
    await expect(page.getByRole('main')).toContainText(/\d/);
    const seen = await page.getByRole('main').textContent();
    expect(seen).not.toMatch(/\d\.0\s(s|ms|min|MB|GB|kB)\b|\b0\.0\s|\bcpu\b/);
  });

test('the limit of a full context stands inside its dialog and touches neither the bar nor the legend', async ({
  page,
  scene,
}) => {
  await scene('overflow');
  const dialog = page.getByRole('dialog');
  for (const [used, draft] of [
    [29_800, 6400],
    [10, 4_000_000],
    [32_700, 69],
  ]) {
    await page.evaluate(
      ([used, draft]) =>
        window.page.useChat.setState(({ overlay }) =>
          overlay.kind === 'overflow' ? { overlay: { ...overlay, used: used as number, draft: draft as number } } : {},
        ),
      [used, draft],
    );
    const limit = dialog.getByText('32k', { exact: true });
    await expect(limit).toBeVisible();
    const label = await limit.boundingBox();
    const around = await limit.locator('..').boundingBox();
    const bar = await limit.locator('xpath=following-sibling::div[1]').boundingBox();
    const legend = await limit.locator('xpath=following-sibling::div[2]').boundingBox();
    if (!label || !around || !bar || !legend) throw new Error('the bar is not on screen');
    expect(label.x).toBeGreaterThanOrEqual(around.x - 1);
    expect(label.x + label.width).toBeLessThanOrEqual(around.x + around.width + 1);
    expect(label.y + label.height).toBeLessThanOrEqual(bar.y + 1);
    expect(bar.y + bar.height).toBeLessThanOrEqual(legend.y);
  }
});

test('an empty chat suggests three things, and others to another model; one that is taken can be changed', async ({
  page,
  scene,
}) => {
  await scene('empty');
  const suggested = page.getByRole('list', { name: 'Suggestions' }).getByRole('button');
  const names = async (parameters: number) => {
    await page.evaluate((count) => {
      const { useEngine } = window.page;
      const { models } = useEngine.getState();
      useEngine.setState({
        models: models.map((one) =>
          one.description ? { ...one, description: { ...one.description, parameters: count } } : one,
        ),
      });
    }, parameters);
    await expect(suggested).toHaveCount(3);
    return suggested.allTextContents();
  };
  const all = [...(await names(9e6)), ...(await names(1e9)), ...(await names(9e9))];
  expect(new Set(all).size).toBe(9);
  await suggested.first().click();
  await expect(page.locator('#composer')).toBeFocused();
  await expect(page.locator('#composer')).not.toHaveValue('');
});

test('a question about passages is no error: nothing below it says that the answer ended with one', async ({
  page,
  scene,
}) => {
  await scene('passages');
  await expect(page.getByRole('button', { name: 'Send passages in this chat' })).toBeVisible();
  await expect(page.getByText('Ended with an error')).toHaveCount(0);
});

test('suggestions that need more room than their dialog are all in sight', async ({ page, scene }) => {
  await scene('tools');
  await page.getByRole('button', { name: /^Tools: \d on$/ }).click();
  await page.getByRole('button', { name: 'Insert a prompt…' }).click();
  await page.getByRole('button', { name: /^Summarise a note/ }).click();
  const field = page.getByRole('combobox', { name: 'sentences' });
  await field.press('ArrowDown');
  const list = page.getByRole('listbox');
  const [box, dialog] = [await list.boundingBox(), await page.getByRole('dialog').boundingBox()];
  if (!box || !dialog) throw new Error('no list in no dialog');
  expect(box.y + box.height).toBeGreaterThan(dialog.y + dialog.height);
  expect(await list.evaluate((one) => one.scrollHeight - one.clientHeight)).toBe(0);
  const last = list.getByRole('option', { name: 'Rent since March' });
  const seen = (option: Element) => {
    const { x, y, width, height } = option.getBoundingClientRect();
    return option.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  };
  await expect.poll(() => last.evaluate(seen)).toBe(true);
});

test('a chat that leaves this computer says so, with the address: in the picker, in the status line, under Privacy', async ({
  page,
  scene,
}) => {
  const host = '192.168.1.20:8000';
  await scene('passages');
  await expect(page.getByText(`This chat goes to ${host}`)).toBeVisible();
  await expect(page.getByText('Your chats stay on this computer')).toHaveCount(0);
  await page.getByRole('button', { name: /^Model Qwen3.5-122B/ }).click();
  await expect(page.getByText(`Leaves this computer: goes to ${host}`).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await page.evaluate(() => window.page.useShell.getState().go({ kind: 'settings', section: 'privacy' }));
  await expect(page.getByText('Leaves this computer: chats with models of Workstation')).toBeVisible();
});
