import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { baseOf } from '../../../app/engine/remote/address.ts';
import type { Timeouts } from '../../../app/engine/remote/connection.ts';
import { listModels } from '../../../app/engine/remote/models.ts';
import { selfSigned } from '../../support/fakes/certificates.ts';
import { delta, event, json, open, type Says, stream } from '../../support/fakes/foreign-engine.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';
import { askedOf, KEY, LONG, listening } from './remote-engine.ts';

//  Remote engines that misbehave in every way: each ends with a specific message, quickly, in bounded memory, and without leaking
//  the key.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('remote');

const MAX_GROWTH = 400e6;
/** Timeouts for silent servers; the others get as long as a busy machine needs. */
const SHORT: Timeouts = { listMs: 1500, firstMs: 1500, silenceMs: 1000 };

function forever(response: ServerResponse, type: string, piece: string) {
  response.writeHead(200, { 'content-type': type });
  const go = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', go);
  go();
}

const SSE = 'text/event-stream';
const says =
  (status: number, message: string, more: Record<string, string> = {}): Says =>
  (response) =>
    json(response, { error: { message } }, status, more);
const begun =
  (after: (response: ServerResponse) => void): Says =>
  (response) => {
    open(response);
    delta(response, { content: 'It begins' });
    setTimeout(() => after(response), 30);
  };

/** The server's behaviour, and the expected reason. */
const ANSWERS: Readonly<Record<string, [Says, string]>> = {
  'no key': [says(401, `Incorrect API key provided: ${KEY}`), 'engine-key'],
  'a key without rights': [says(403, 'forbidden'), 'engine-key'],
  'nothing at this path': [says(404, 'Not Found'), 'engine-foreign'],
  'a model that is not there': [says(404, 'The model `m` does not exist.'), 'engine-model'],
  'a conversation that is too long': [
    says(400, "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"),
    'engine-context',
  ],
  'a context of llama.cpp that is too small': [
    says(400, 'the request exceeds the available context size. try increasing the context size'),
    'engine-context',
  ],
  'a wish it does not know': [says(422, 'extra inputs are not permitted'), 'engine-refused'],
  'too many requests, for an hour': [says(429, 'slow down', { 'retry-after': '3600' }), 'engine-busy'],
  'too many requests, again and again': [says(429, 'slow down', { 'retry-after': '0' }), 'engine-busy'],
  'too many requests until a day that never comes': [
    says(429, '', { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' }),
    'engine-busy',
  ],
  'an error of its own': [says(500, 'CUDA out of memory'), 'engine-error'],
  'a page of the web': [
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Sign in</p>'),
    'engine-foreign',
  ],
  'a page of an error': [
    (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    'engine-error',
  ],
  'a redirect to another host': [
    (response) => response.writeHead(307, { location: 'http://192.0.2.1/v1' }).end(),
    'engine-redirect',
  ],
  'a redirect to a file': [
    (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'engine-redirect',
  ],
  'a redirect to nowhere': [(response) => response.writeHead(308).end(), 'engine-redirect'],
  'no JSON in a stream': [begun((response) => event(response, '{"choices": [')), 'engine-foreign'],
  'JSON that is no answer': [begun((response) => event(response, { hello: 1 })), 'engine-foreign'],
  'text that is none': [begun((response) => delta(response, { content: { a: 1 } })), 'engine-foreign'],
  'an error in the middle': [
    begun((response) => event(response, { error: { message: `worker died, key ${KEY}` } })),
    'engine-error',
  ],
  'a connection that breaks': [begun((response) => response.destroy()), 'engine-hung-up'],
  'an end without an end': [begun((response) => response.end()), 'engine-hung-up'],
  'silence in the middle': [begun(() => {}), 'engine-timeout'],
  'silence from the begin': [() => {}, 'engine-timeout'],
  'comments and nothing else, slowly': [
    (response) => {
      open(response);
      const timer = setInterval(() => response.write(': ping\n\n'), 50);
      response.on('close', () => clearInterval(timer));
    },
    'engine-timeout',
  ],
  'one event without end': [(response) => forever(response, SSE, 'data: x'.repeat(9000)), 'engine-flood'],
  // Ended by the time limit or the size limit, whichever comes first.
  'comments without end': [
    (response) => forever(response, SSE, ': still here\n\n'.repeat(4000)),
    'engine-flood|engine-timeout',
  ],
  'text without end': [
    (response) =>
      forever(
        response,
        SSE,
        `data: ${JSON.stringify({ choices: [{ delta: { content: 'word '.repeat(2000) } }] })}\n\n`,
      ),
    'engine-flood',
  ],
  'a list of lists, a million deep': [
    (response) => json(response, '['.repeat(1e6) + ']'.repeat(1e6)),
    'engine-foreign',
  ],
  'an answer of 64 MB in one': [(response) => json(response, `"${'x'.repeat(64e6)}"`), 'engine-flood'],
  'calls without end': [
    (response) => {
      open(response);
      for (let index = 0; index < 200; index++)
        delta(response, { tool_calls: [{ index, function: { name: 'f', arguments: '{}' } }] });
    },
    'engine-flood',
  ],
  'a call whose arguments are no object': [
    (response) =>
      stream(response, [{ tool_calls: [{ index: 0, function: { name: 'f', arguments: '[1]' } }] }], null, 'tool_calls'),
    'engine-foreign',
  ],
};

test('wrong answers to a question end in a sentence of their own, and none is told the key', async () => {
  let answer: Says = () => {};
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    await answer(response, { method: 'POST', path: request.url ?? '', headers: request.headers, body: {} }, 0);
  });
  const address = await listening(server);
  const seen = observe();
  for (const [what, [wrong, reason]] of Object.entries(ANSWERS)) {
    answer = wrong;
    await tally.refused(what, async () => {
      const events = await askedOf(address, reason.includes('engine-timeout') ? SHORT : LONG);
      const ends = events.filter(({ type }) => type === 'failed' || type === 'finished');
      expect(ends).toMatchObject([
        { type: 'failed', failure: { details: { reason: expect.stringMatching(`^(?:${reason})$`) } } },
      ]);
      expect(JSON.stringify(events)).not.toContain(KEY);
    });
  }
  expect(seen().grown).toBeLessThan(MAX_GROWTH);
  tally.settle();
});

test('one that is busy for a moment is asked again; one that never closes, or sends no figures, has answered', async () => {
  let times = 0;
  const busy = await listening(
    createServer((request, response) => {
      request.resume();
      if (times++ === 0) return json(response, { error: 'busy' }, 429, { 'retry-after': '0' });
      open(response);
      delta(response, { content: 'Now.' }, 'stop');
      return response;
    }),
  );
  const events = await askedOf(busy, LONG);
  expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' });
  expect(times).toBe(2);
});

test('what is no engine: no port, another protocol, no certificate, none for this name; lists that are none', async () => {
  const reachable = (address: string) => listModels({ address, key: KEY, fetch }, new AbortController().signal, SHORT);
  const tls = (certificate: ReturnType<typeof selfSigned>) =>
    listening(
      createTlsServer(certificate, (_, response) => json(response, { data: [] })),
      'https',
    );
  const closed = createTcpServer();
  const nobody = await listening(closed);
  closed.close();
  const mail = await listening(createTcpServer((socket) => socket.end('220 mail.example ESMTP\r\n')));
  const plain = await listening(
    createServer((_, response) => json(response, { data: [] })),
    'https',
  );
  const list = (value: unknown) => listening(createServer((_, response) => json(response, value)));
  const wrong: [string, string, string][] = [
    ['nobody listens', nobody, 'engine-unreachable'],
    ['a server of mail', mail, 'engine-foreign'],
    ['a certificate of its own', await tls(selfSigned()), 'engine-tls'],
    ['https where none is spoken', plain, 'engine-tls'],
    ['a list that is a text', await list('"models"'), 'engine-foreign'],
    ['a list of something else', await list({ items: [] }), 'engine-foreign'],
    ['two million models', await list(`{"data":[${'0,'.repeat(2e6)}0]}`), 'engine-foreign'],
  ];
  for (const [what, address, reason] of wrong)
    await tally.refused(what, async () => {
      const error = await reachable(address).then(
        () => null,
        (thrown) => thrown,
      );
      expect(error).toMatchObject({ details: { reason } });
      expect(JSON.stringify([error.message, error.details])).not.toContain(KEY);
    });
  tally.settle();
  const odd = await list({
    data: [{ id: 'a' }, { id: 'b\u001b[2J' }, { id: '' }, { id: 'x'.repeat(400) }, 7, { id: 'a' }],
  });
  expect((await reachable(odd)).map(({ model }) => model)).toEqual(['a']);
});

test('addresses that are none, or that carry secrets', async () => {
  const wrong = [
    '',
    'ftp://lab',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://',
    'http://me:secret@lab',
    'http://lab/?key=1',
    'http://lab/#a',
    'http://la b/',
  ];
  for (const address of wrong)
    await tally.refused(address, () => expect(() => baseOf(address)).toThrow(/an address is wanted/));
  tally.settle();
  expect(baseOf('192.168.1.20:8000')).toBe('http://192.168.1.20:8000/v1');
  expect(baseOf(' https://lab.example/v1/ ')).toBe('https://lab.example/v1');
  expect(baseOf('https://lab.example/api/v1/chat/completions')).toBe('https://lab.example/api/v1');
  expect(baseOf('http://[::1]:1234')).toBe('http://[::1]:1234/v1');
});
