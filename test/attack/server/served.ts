import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { socketPath } from '../../../app/protocol/index.ts';
import { type BrowserHost, startBrowserHost } from '../../../app/server/web-server.ts';
import { enter } from '../../support/core/browser.ts';
import { newFolder, startCore } from '../../support/core/core.ts';

export type Served = BrowserHost & { origin: string; secret: string; dataFolder: string };

export async function serve(port = 0): Promise<Served> {
  const { host, dataFolder } = await startCore();
  const renderer = join(newFolder(), 'renderer');
  mkdirSync(join(renderer, 'assets'), { recursive: true });
  writeFileSync(join(renderer, 'index.html'), '<!doctype html><title>Longhand</title>');
  writeFileSync(join(renderer, 'assets', 'page-1a2b.js'), 'export {}');
  writeFileSync(join(renderer, '..', 'secret.txt'), 'secret');
  mkdirSync(`${renderer}-old`);
  writeFileSync(join(`${renderer}-old`, 'secret.txt'), 'secret');
  const served = await startBrowserHost({ host, renderer, port });
  onTestFinished(() => served.close());
  return { ...served, ...(await enter(served.address())), dataFolder };
}

/** Unlike fetch(), can set Host and Origin. */
export function ask(
  port: number,
  options: { path?: string; method?: string; headers?: Record<string, string> },
): Promise<{ status: number; body: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/', ...options }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

export type Status = number | 'open';

/** The outcome of opening a socket with these subprotocols. */
export const statusOfSocket = (
  port: number,
  protocols: string[],
  headers: Record<string, string>,
  path = socketPath,
): Promise<Status> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
    socket.once('open', () => {
      socket.close();
      resolve('open');
    });
    socket.once('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
    socket.on('error', () => resolve(0));
  });

export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
export const ticketIn = (address: string) => new URL(address).hash.replace('#once=', '');
