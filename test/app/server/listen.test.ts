import { createServer, get } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { keepRoom, listen } from '../../../app/server/listen.ts';

/** What the server says over a connection of its own. */
const ask = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent: false }, (response) => {
      let said = '';
      response.setEncoding('utf8');
      response.on('data', (text) => {
        said += text;
      });
      response.on('end', () => resolve(said));
    }).on('error', reject);
  });

test('connections that are closed make room: the six hundredth is answered like the first', async () => {
  const server = createServer((_, response) => response.end('here'));
  onTestFinished(() => void server.close());
  const port = await listen(server, 0);
  keepRoom(server, port);
  for (let asked = 0; asked < 600; asked += 20) {
    const said = await Promise.all(Array.from({ length: 20 }, () => ask(port)));
    expect(new Set(said), `after ${asked}`).toEqual(new Set(['here']));
  }
});
