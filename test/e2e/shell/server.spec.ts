import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { begin, expect, test } from '../app.ts';

//  The server for other programs, switched on by hand and asked over HTTP.

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

test('switched on with its first key, asked, listed, refused, revoked, switched off', async ({
  page,
  app,
  problems,
}) => {
  const port = await freePort();
  await begin(page, app);
  await page.getByRole('button', { name: /^Server/ }).click();
  await page.getByRole('button', { name: 'Options', exact: true }).click();
  await page.getByRole('textbox', { name: 'Port' }).fill(String(port));
  await page.getByRole('button', { name: 'Save' }).click();

  const address = `http://127.0.0.1:${port}`;
  await expect(fetch(`${address}/v1/models`)).rejects.toThrow();
  await page.getByRole('switch', { name: /^Let other programs/ }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByLabel('Key', { exact: true }).textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText(key)).toHaveCount(0);
  await expect(page.getByText(/^On since/)).toBeVisible();
  await expect(page.getByRole('button', { name: `Serving on port ${port}` })).toBeVisible();

  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { data } = (await (await fetch(`${address}/v1/models`, { headers })).json()) as {
    data: { id: string; kind: string }[];
  };
  const model = data.find(({ kind }) => kind === 'chat')?.id;
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'What is your name?' }], max_tokens: 4 });
  const answered = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body });
  expect(answered.status).toBe(200);
  const row = page.getByRole('row', { name: /\/v1\/chat\/completions/ });
  await expect(row).toContainText('200');
  await expect(row).toContainText('My programs');
  await row.getByRole('button').first().click();
  await expect(page.getByRole('complementary', { name: 'Request' })).toContainText(
    'The text of this request was not kept',
  );
  await page.getByRole('button', { name: 'Close' }).click();

  expect((await fetch(`${address}/v1/models`, { headers: { authorization: 'Bearer lh-wrong' } })).status).toBe(401);
  await expect(page.getByRole('row', { name: /401/ })).toContainText('unknown');

  await page.getByRole('button', { name: 'Revoke “My programs”' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await expect(page.getByText('No keys yet. Every program needs one.')).toBeVisible();
  expect((await fetch(`${address}/v1/models`, { headers })).status).toBe(401);
  await page.getByRole('switch', { name: /^Let other programs/ }).click();
  await expect(page.getByRole('main').getByText('Off', { exact: true })).toBeVisible();
  await expect(fetch(`${address}/v1/models`, { headers })).rejects.toThrow();
  expect(problems).toEqual([]);
});
