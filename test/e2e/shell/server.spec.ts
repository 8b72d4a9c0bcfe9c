import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { build } from 'vite';
import { freePort } from '../../support/free-port.ts';
import { begin, expect, test } from '../app.ts';

//  The server for other programs, switched on by hand and asked over HTTP.

/** A package as a page of somebody else would load it. */
async function bundled(entry: string): Promise<string> {
  const root = join(import.meta.dirname, '..', '..', '..');
  const lib = { entry: join(root, 'node_modules', entry), formats: ['es' as const], fileName: 'client' };
  const built = await build({
    configFile: false,
    logLevel: 'error',
    root,
    build: { write: false, minify: false, lib },
  });
  const [first] = [built].flat();
  const [chunk] = first && 'output' in first ? first.output : [];
  return chunk?.code ?? '';
}

/** Switches the server on with a new key, and leaves its options open, with the port filled in. */
async function serveAt(port: number, page: Page, app: Parameters<typeof begin>[1]): Promise<string> {
  await begin(page, app);
  await page.getByRole('button', { name: /^Server/ }).click();
  await page.getByRole('switch', { name: /^Let other programs/ }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByLabel('Key', { exact: true }).textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Options', exact: true }).click();
  await page.getByRole('textbox', { name: 'Port', exact: true }).fill(String(port));
  return key;
}

test('other devices: asked about, then served over HTTPS with the certificate that is shown', async ({
  page,
  app,
  problems,
}) => {
  const [port, networkPort] = [await freePort(), await freePort()];
  const key = await serveAt(port, page, app);
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

test('a page of another origin asks with its client as soon as it is named in the options, and is told apart before', async ({
  page,
  app,
  context,
}) => {
  const port = await freePort();
  const openAi = await bundled('openai/index.mjs');
  const site = createServer(({ url }, response) => {
    const script = url === '/openai.js';
    response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
    response.end(script ? openAi : '<!doctype html><title>Site</title>');
  });
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const key = await serveAt(port, page, app);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: `Serving on port ${port}` })).toBeVisible();

  const other = await context.newPage();
  await other.goto(origin);
  const ask = () =>
    other.evaluate(
      async ([baseURL, apiKey]) => {
        const { OpenAI } = (await import('/openai.js' as string)) as typeof import('openai');
        const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0, dangerouslyAllowBrowser: true });
        try {
          const model = (await openai.models.list()).data.find((one) => 'kind' in one && one.kind === 'chat')?.id ?? '';
          const messages = [{ role: 'user' as const, content: 'What is your name?' }];
          const answer = await openai.chat.completions.create({ model, messages, max_tokens: 8 });
          return answer.choices[0]?.finish_reason ?? '';
        } catch (error) {
          return String(error);
        }
      },
      [`http://127.0.0.1:${port}/v1`, key] as const,
    );
  expect(await ask()).toContain('Connection error');
  await expect(page.getByRole('row', { name: /403/ }).first()).toContainText('unknown');

  await page.getByRole('button', { name: 'Options', exact: true }).click();
  const pages = page.getByRole('textbox', { name: 'Web pages' });
  await pages.fill('chat.example');
  await expect(page.getByText('“chat.example” is not the address of a web app')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
  await pages.fill(`https://chat.example/ ${origin}`);
  await page.getByRole('button', { name: 'Save' }).click();
  expect(await ask()).toMatch(/^(length|stop)$/);
  await page.getByRole('button', { name: 'Options', exact: true }).click();
  await expect(pages).toHaveValue(`https://chat.example ${origin}`);
  site.close();
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
  const rows = page.getByRole('row', { name: /\/v1\/chat\/completions/ });
  const row = rows.first();
  await expect(row).toContainText('200');
  await expect(row).toContainText('My programs');
  await row.getByRole('button').first().click();
  await expect(page.getByRole('complementary', { name: 'Request' })).toContainText(
    'The text of this request was not kept',
  );
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Options', exact: true }).click();
  await page.getByRole('switch', { name: 'Inspector' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  for (const what of ['name', 'job']) {
    const changed = body.replace('your name', `own ${what}`);
    await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body: changed });
  }
  await expect(rows).toHaveCount(3);
  await expect(row).toContainText('200');
  await row.getByRole('button').first().click();
  const details = page.getByRole('complementary', { name: 'Request' });
  await expect(details).toContainText(/differs from everything in the cache at token \d+/);
  const difference = details.getByRole('region', { name: 'First difference' });
  await expect(difference).toContainText('in “user”');
  await expect(difference.locator('del')).toHaveText('− What is own name?');
  await expect(difference.locator('ins')).toHaveText('+ What is own job?');
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
