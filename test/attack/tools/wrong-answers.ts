import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Answer, type Asked, json } from './hostile-tool-server.ts';

//  Answers that no tool server should give, whatever it was asked.

/** Writes endlessly, as fast as it is read. */
function forever(response: ServerResponse, type: string, piece: string) {
  response.writeHead(200, { 'content-type': type });
  const go = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', go);
  go();
}

const stream = 'text/event-stream';
const redirect =
  (status: number, location: string): Answer =>
  (response) =>
    response.writeHead(status, { location }).end();
const typed =
  (type: string, body: string | Buffer): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': type }).end(body);
export const result =
  (value: string) =>
  (response: ServerResponse, { id }: Asked) =>
    json(response, `{"jsonrpc":"2.0","id":${id},"result":${value}}`);
/** `elsewhere`: the address of another server, which must not be asked anything. */
export const wrongAnswers = (elsewhere: string): Readonly<Record<string, Answer>> => ({
  'a redirect to another server': redirect(302, elsewhere),
  'a redirect that keeps the body': redirect(307, elsewhere),
  'a redirect for good': redirect(308, elsewhere),
  'a redirect to a file': redirect(302, 'file:///etc/passwd'),
  'a redirect to data': redirect(302, 'data:application/json,{}'),
  'a redirect to nowhere': redirect(302, ''),
  'a sign-in elsewhere': (response) =>
    response
      .writeHead(401, {
        'www-authenticate': `Bearer resource_metadata="${elsewhere}/meta"`,
      })
      .end(),
  'one text of 64 MB': (response) => typed('application/json', `"${'x'.repeat(64e6)}"`)(response, {}),
  'an answer without end': (response) => forever(response, 'application/json', 'x'.repeat(65536)),
  'blanks without end': (response) => forever(response, 'application/json', ' '.repeat(65536)),
  'an event without end': (response) => forever(response, stream, 'data: x'.repeat(9000)),
  'events without end': (response) =>
    forever(response, stream, 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'.repeat(1000)),
  'comments without end': (response) => forever(response, stream, ': still here\n\n'.repeat(4000)),
  'lists of lists, a million deep': typed('application/json', '['.repeat(1e6) + ']'.repeat(1e6)),
  'two million values': typed('application/json', `[${'0,'.repeat(2e6)}0]`),
  'a gigabyte in one megabyte': (response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    });
    response.end(BOMB);
  },
  'a page': typed('text/html', '<script>alert(1)</script>'),
  'a picture': typed('image/png', Buffer.alloc(1e6)),
  'no type': (response) => response.writeHead(200).end('{}'),
  'JSON that is none': typed('application/json', '{"jsonrpc":'),
  nothing: typed('application/json', ''),
  'another protocol': typed('application/json', '{"ok":true}'),
  'a result without an id': typed('application/json', '{"jsonrpc":"2.0","result":{}}'),
  'a line that is cut off': (response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': '5000',
    });
    response.write('{"jsonrpc"');
    setTimeout(() => response.destroy(), 20);
  },
  'a failure of a megabyte': (response) => response.writeHead(500).end('x'.repeat(1e6)),
});
const BOMB = gzipSync(Buffer.alloc(256e6));
