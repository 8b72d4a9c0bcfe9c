import { createServer } from 'node:http';
import { request } from 'node:https';
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

test('other devices: asked about, then served over HTTPS with the certificate that is shown', async ({
  page,
  app,
  problems,
}) => {
  const [port, networkPort] = [await freePort(), await freePort()];
  await begin(page, app);
  await page.getByRole('button', { name: /^Server/ }).click();
  await page.getByRole('switch', { name: /^Let other programs/ }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByLabel('Key', { exact: true }).textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Options', exact: true }).click();
  await page.getByRole('textbox', { name: 'Port', exact: true }).fill(String(port));
  await page.getByRole('switch', { name: 'Other devices on your network' }).click();
  await page.getByRole('textbox', { name: 'Port for other devices' }).fill(String(networkPort));
  await page.getByRole('textbox', { name: 'Certificate file' }).fill('/a.pem');
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
  await page.getByRole('textbox', { name: 'Certificate file' }).fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  const question = page.getByRole('dialog', { name: 'Let other devices use your models?' });
  await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('textbox', { name: 'Port for other devices' })).toHaveValue(String(networkPort));
  await page.getByRole('button', { name: 'Save' }).click();
  await question.getByRole('button', { name: 'Let them connect' }).click();
  await expect(page.getByText('For other devices on your network')).toBeVisible();
  await expect(page.getByRole('button', { name: `Serving your network on port ${networkPort}` })).toBeVisible();
  await page.getByRole('button', { name: 'Copy certificate' }).click();
  const ca = await page.evaluate(() => navigator.clipboard.readText());
  expect(ca).toContain('BEGIN CERTIFICATE');
  const status = await new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: networkPort,
      path: '/v1/models',
      ca,
      checkServerIdentity: () => undefined,
    };
    const asked = request({ ...options, headers: { authorization: `Bearer ${key}` } }, (answer) =>
      resolve(answer.statusCode),
    );
    asked.on('error', reject).end();
  });
  expect(status).toBe(200);
  expect(problems).toEqual([]);
});

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
