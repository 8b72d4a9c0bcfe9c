import { ask, expect, finished, startApp, test } from '../app.ts';

//  What a newcomer meets without a network: the assistant that is built in, and the manual searched by meaning.

test('the assistant is the first model: it quotes the manual about Longhand and itself, knows a little, and writes short texts', async ({
  page,
  problems,
}) => {
  test.slow();
  const app = await startApp({ LONGHAND_ASSISTANT: 'on', LONGHAND_EMBEDDING: 'on' });
  try {
    await page.goto(app.address);
    await expect(page.getByRole('heading', { name: 'Longhand Assistant' })).toBeVisible();
    await expect(page.getByText('Ready now, nothing to download')).toBeVisible();
    await page.getByRole('button', { name: 'Start chatting', exact: true }).click();
    await expect(page.locator('#composer')).toBeFocused();

    // The manual is embedded some time after the start; until then the assistant answers from what it has learnt.
    await expect(async () => {
      await page.getByRole('button', { name: 'New chat' }).first().click();
      await ask(page, 'How do I ask about a PDF?');
      await expect(finished(page)).toHaveCount(1);
      await expect(page.getByText('From the manual', { exact: true })).toBeVisible({ timeout: 1000 });
    }).toPass({ timeout: 120_000, intervals: [5000] });
    await expect(page.getByText(/add it under Documents, open it and press Ask/).first()).toBeVisible();

    let asked = 1;
    const reply = async (text: string) => {
      await ask(page, text);
      await expect(finished(page)).toHaveCount(++asked);
      return page.locator('article[data-message]').last();
    };
    await expect(await reply('Who made you?')).toContainText('Hugging Face');
    await expect(await reply('Can you see me?')).toContainText(/cannot see|can't see/);
    const capital = await reply('What is the capital of Portugal?');
    await expect(capital).toContainText('Lisbon');
    await expect(capital).not.toContainText('[1]');
    expect(problems).toEqual([]);
  } finally {
    await app.close();
  }
});
