import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { guarded } from '../../protocol/index.ts';
import type { Bytes } from './download-error.ts';
import { publicLookup } from './private-hosts.ts';
import type { Open } from './transport.ts';

/** Maximum unread bytes buffered per connection. */
const MAX_HELD: Bytes = 256 * 1024;

/** Requests through Node's own client: `fetch` copies a body twice more and passes it on through promises, which
 *  costs a third of the processor time of a whole download. Proxy and certificates are those of `network-config.ts`. */
export const openHttp: Open = (url, headers, signal, reach = 'anywhere') =>
  new Promise((resolve, reject) => {
    const { get } = url.protocol === 'https:' ? https : http;
    const lookup = reach === 'public' ? { lookup: publicLookup(url) } : {};
    const request = get(url, { headers, signal, ...lookup }, (response) =>
      resolve({
        status: response.statusCode ?? 0,
        header: (name) => headerOf(response, name),
        body: flowing(response),
        cancel: () => void response.destroy(),
      }),
    );
    // Later errors reach the reader of the body.
    request.on('error', reject);
    // An unrequested protocol upgrade is not a response; Node reports it in no other way.
    request.on(
      'upgrade',
      guarded(reject, (_: IncomingMessage, socket: Socket) => {
        socket.destroy();
        throw new Error('the server answers in another protocol');
      }),
    );
    request.on('close', () => reject(new Error('the connection closed without an answer')));
  });

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Chunks as they arrive, without copying; listens from now on, so that nothing is missed before the first read. Ending
 *  the iteration closes the connection. */
function flowing(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let held: Bytes = 0;
  let ended = false;
  let failure: Error | null = null;
  let wake = () => {};
  const take = (piece: Uint8Array) => {
    pieces.push(piece);
    held += piece.length;
    if (held >= MAX_HELD) response.pause();
    wake();
  };
  const fail = (error: Error) => {
    failure = error;
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  response.on('data', guarded(console.error, take));
  response.on('error', guarded(console.error, fail));
  response.on('close', guarded(console.error, end));

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = pieces.shift();
        if (piece) {
          held -= piece.length;
          if (held < MAX_HELD && response.isPaused()) response.resume();
          yield piece;
        } else {
          if (failure) throw failure;
          if (ended) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      response.destroy();
    }
  }
  return read();
}
