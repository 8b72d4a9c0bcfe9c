import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Client, ModelEntry, RemoteEngine } from '../../../app/protocol/index.ts';

//  A remote engine that follows a script, over real HTTP.

export type Asked = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: {
    model?: string;
    messages?: { role: string; content: unknown; tool_calls?: unknown[]; tool_call_id?: string }[];
    [key: string]: unknown;
  };
};
export type Says = (response: ServerResponse, asked: Asked, number: number) => unknown;

export type ForeignEngine = {
  address: string;
  /** Every request, in order. */
  asked: Asked[];
  /** How it answers questions from now on. */
  says(next: Says): void;
};

export async function foreignEngine(says: Says, models: object[] = [{ id: 'lab/model-7b' }]): Promise<ForeignEngine> {
  const asked: Asked[] = [];
  let answer = says;
  let number = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body: text === '' ? {} : JSON.parse(text) };
    asked.push(one);
    if (url.endsWith('/models')) return json(response, { object: 'list', data: models });
    await answer(response, one, number++);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, asked, says: (next) => (answer = next) };
}

export const json = (response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
};

export const open = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
export const event = (response: ServerResponse, value: unknown) =>
  response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
export const delta = (response: ServerResponse, part: object, finish: string | null = null) =>
  event(response, {
    id: 'x',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: part, finish_reason: finish }],
  });

/** A complete answer in pieces, with its usage figures. */
export function stream(
  response: ServerResponse,
  parts: readonly object[],
  usage: object | null = USAGE,
  finish = 'stop',
) {
  open(response);
  for (const part of parts) delta(response, part);
  delta(response, {}, finish);
  if (usage) event(response, { choices: [], usage });
  event(response, '[DONE]');
  response.end();
}

export const USAGE = {
  prompt_tokens: 30,
  completion_tokens: 9,
  prompt_tokens_details: { cached_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

/** Adds the engine as the page does: tested first, then with all of its models. */
export async function addEngine(
  client: Client,
  address: string,
  key: string | null = null,
): Promise<{ engine: RemoteEngine; model: ModelEntry }> {
  const { models } = await client.call('remoteEngines.test', { address, key });
  const engine = await client.call('remoteEngines.add', { name: 'The lab', address, key, models });
  const list = await client.call('models.list');
  const model = list.find((one) => one.remote?.engineId === engine.id);
  if (!model) throw new Error('no model of the engine is in the list');
  return { engine, model };
}
