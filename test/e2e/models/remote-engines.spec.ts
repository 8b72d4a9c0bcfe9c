import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ask, begin, expect, test } from '../app.ts';

//  A remote engine from the first address to the last answer, in the real app over real HTTP.

const KEY = 'sk-e2e-secret';

type Asked = { messages: { role: string; content: unknown }[] };
type Lab = { address: string; host: string; asked: Asked[]; server: Server };

const piece = (response: ServerResponse, delta: object, finish: string | null = null) =>
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);

/** It wants its key, thinks beside the answer, and does not end what begins with "Go on". */
async function startLab(): Promise<Lab> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    if (request.headers.authorization !== `Bearer ${KEY}`) {
      response.writeHead(401, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { message: 'no such key' } }));
    }
    if (request.url === '/v1/models') {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ data: [{ id: 'lab/large-70b', max_model_len: 32_768 }] }));
    }
    const question = JSON.parse(body) as Asked;
    asked.push(question);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    piece(response, { reasoning_content: 'Let me think of it.' });
    piece(response, { content: 'Far away, ' });
    if (String(question.messages.at(-1)?.content).startsWith('Go on for ever')) return;
    piece(response, { content: 'and well.' }, 'stop');
    response.write(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 9 } })}\n\n`);
    return response.end('data: [DONE]\n\n');
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address: `http://${host}`, host, asked, server };
}

test('added with its key, tested, chosen, asked, stopped; where it goes is said; removed', async ({
  page,
  app,
  problems,
}) => {
  const lab = await startLab();
  try {
    await begin(page, app);
    await page.getByRole('button', { name: /^Models/ }).click();
    await page.getByRole('radio', { name: 'Remote' }).click();
    await page.getByRole('button', { name: 'Add an engine' }).click();
    const form = page.getByRole('dialog', { name: 'Add an engine' });
    await form.getByRole('textbox', { name: 'Name' }).fill('The lab');
    await form.getByRole('textbox', { name: /^Address/ }).fill(lab.host);
    await expect(form.getByRole('button', { name: 'Add', exact: true })).toBeDisabled();
    await form.getByRole('button', { name: 'Test connection' }).click();
    await expect(form.getByRole('alert')).toContainText('The engine did not accept the key.');
    await form.getByLabel('Key', { exact: true }).fill(KEY);
    await form.getByRole('button', { name: 'Test connection' }).click();
    await expect(form.getByText('Connected. 1 model found.')).toBeVisible();
    await expect(form.getByRole('checkbox', { name: /lab\/large-70b/ })).toBeChecked();
    expect(lab.asked).toEqual([]);
    await form.getByRole('button', { name: 'Add', exact: true }).click();

    const card = page.getByRole('region', { name: 'The lab' });
    await expect(card).toContainText(`Another program on this computer: ${lab.host}`);
    await card.getByRole('button', { name: /^New chat/ }).click();
    await expect(page.getByRole('button', { name: /^Model large-70b/ })).toContainText(lab.host);
    await ask(page, 'How are you?');
    await expect(page.getByText('Far away, and well.', { exact: true })).toBeVisible();
    expect(lab.asked[0]?.messages).toEqual([{ role: 'user', content: 'How are you?' }]);

    await ask(page, 'Go on for ever.');
    await expect(page.getByText('Far away,', { exact: true })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: /^Continue/ })).toBeVisible();

    await page.keyboard.press('Control+,');
    await page.getByRole('button', { name: 'Privacy' }).click();
    await expect(page.getByText('Remote engine: The lab')).toBeVisible();
    await page.getByRole('button', { name: /^Models/ }).click();
    await card.getByRole('button', { name: 'Options for The lab' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect(card).toHaveCount(0);
    expect(problems).toEqual([]);
  } finally {
    lab.server.closeAllConnections();
    lab.server.close();
  }
});
