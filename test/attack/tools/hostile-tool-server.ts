import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

//  HTTP tool servers that answer as scripted by a test.

export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A message from us: a request, or our response to one of the server's. */
export type Asked = {
  id?: number | string | null;
  method?: string;
  params?: { protocolVersion?: string };
  error?: { code: number };
  result?: unknown;
};
export type Answer = (response: ServerResponse, asked: Asked) => void;

export const json = (response: ServerResponse, value: unknown) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
};

const greeting = ({ id, params }: Asked) => ({
  jsonrpc: '2.0',
  id,
  result: {
    protocolVersion: params?.protocolVersion,
    capabilities: { tools: {}, prompts: {}, completions: {} },
    serverInfo: { name: 'a', version: '1' },
  },
});

/** Behaves like a tool server except for `method`. Our responses to its own requests are passed to `hear`. */
export const hostile = (method: string, answer: Answer, hear: (said: Asked) => void = () => {}): Promise<string> =>
  serve(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method !== 'POST') return response.writeHead(405).end();
    const asked = JSON.parse(body) as Asked;
    if (asked.method === undefined) hear(asked);
    if (asked.method === method) return answer(response, asked);
    if (asked.method === 'initialize') return json(response, greeting(asked));
    if (asked.id === undefined || asked.method === undefined) return response.writeHead(202).end();
    return json(response, { jsonrpc: '2.0', id: asked.id, result: { tools: [], prompts: [], messages: [] } });
  });
