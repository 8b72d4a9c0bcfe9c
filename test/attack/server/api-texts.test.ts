import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import type { StartEngine } from '../../../app/engine/ipc-protocol.ts';
import { KEY, startApi } from '../../app/server/api/api.ts';
import { realEngine } from '../../support/core/core.ts';
import { soaking } from '../../support/soak.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  Attacks by programs with a key through texts to rank or embed: too many, too long, none, or from a client that
//  disconnected. None exceeds its limits, and the next request is answered.

vi.setConfig({ testTimeout: 300_000 });
const tally = tallyOf('api');
const MAX_GROWTH = 400e6;
const LONG = soaking ? 4e6 : 200_000;

type Server = Awaited<ReturnType<typeof startApi>>;

const named = async (server: Server, kind: string) =>
  (await server.host.inference.models()).find((one) => one.kind === kind)?.id ?? '';
const bodyFor = (model: string, texts: unknown, query: unknown = 'a') =>
  JSON.stringify({ model, query, documents: texts, input: texts });
const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

async function post(server: Server, path: string, body: string) {
  const answer = await fetch(`${server.address}${path}`, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

const many = (count: number, text: string) => Array.from({ length: count }, () => text);

/** The input, and the allowed statuses. */
const TEXTS: Readonly<Record<string, [texts: unknown, ...allowed: number[]]>> = {
  none: [[], 400, 200],
  'no list': [{ length: 3, 0: 'a' }, 400],
  'a number': [[7], 400],
  'nothing at all': [null, 400],
  'too many': [many(5000, 'a'), 400],
  'lists in lists': [[[['a']]], 400],
  'texts in objects in objects': [[{ text: { text: 'a' } }], 400],
  'a prototype': [[JSON.parse('{"__proto__":{"text":"a"}}')], 400],
  'an empty one': [[''], 200, 400],
  'half a character': [['\ud800'], 200],
  'the end of a text in the middle': [['a\u0000b [SEP] [CLS] [PAD] </s>'], 200],
  'nothing but spaces': [[' '.repeat(LONG)], 200],
  'one word without end': [['x'.repeat(LONG)], 200],
  'marks on one letter': [[`a${'\u0301'.repeat(LONG)}`], 200],
  'nothing but emoji': [['👩‍👩‍👧‍👦'.repeat(LONG / 20)], 200],
};

test('texts to rank, and to make vectors of, that are none, too many or mean', async () => {
  const server = await startApi();
  const [encoder, ranker] = [await named(server, 'encoder'), await named(server, 'ranker')];
  const places: [string, string][] = [
    ['/v1/rerank', ranker],
    ['/v1/embeddings', encoder],
    ['/api/embed', encoder],
  ];
  for (const [path, model] of places)
    for (const [what, [texts, ...allowed]] of Object.entries(TEXTS))
      await tally.refused(`${path}: ${what}`, async () => {
        const stop = observe();
        const { status, text } = await post(server, path, bodyFor(model, texts));
        const { grown } = stop();
        expect(allowed, text.slice(0, 200)).toContain(status);
        expect(grown).toBeLessThan(MAX_GROWTH);
        // NaN would be serialised as null.
        if (status === 200) expect(text).not.toContain('null');
      });
  for (const [what, query] of Object.entries({
    none: '',
    'a list': ['a'],
    'a megabyte': 'word '.repeat(200_000),
    'half a character': '\udc00',
  }))
    await tally.refused(`a question that is ${what}`, async () => {
      const { status } = await post(server, '/v1/rerank', bodyFor(ranker, ['a', 'b'], query));
      expect(typeof query === 'string' && query !== '' ? [200] : [400]).toContain(status);
    });
  for (const [path, model] of places)
    for (const wrong of [server.model, '../encoder', '__proto__', `${model}/../${model}`, 'x'.repeat(501)])
      await tally.refused(`${path}: the model ${wrong.slice(0, 20)}`, async () => {
        expect([400, 404]).toContain((await post(server, path, bodyFor(wrong, ['a']))).status);
      });
  tally.settle();
});

/** The engine, and a counter of the texts sent to it. */
function counting(): { start: StartEngine; texts: () => number } {
  let texts = 0;
  const real = realEngine();
  return {
    texts: () => texts,
    async start() {
      const engine = await real();
      const { pipe } = engine;
      return {
        ...engine,
        pipe: {
          ...pipe,
          send(message) {
            if ('ask' in message && (message.ask === 'rank' || message.ask === 'embed'))
              texts += message.input.texts.length;
            pipe.send(message);
          },
        },
      };
    },
  };
}

test('texts of somebody who is gone are read no further', async () => {
  const engine = counting();
  const server = await startApi({}, { startEngine: engine.start });
  const [encoder, ranker] = [await named(server, 'encoder'), await named(server, 'ranker')];
  const book = 'The lease says that the rent of the house is paid every month. '.repeat(60);
  for (const [path, model] of [
    ['/v1/rerank', ranker],
    ['/v1/embeddings', encoder],
    ['/api/embed', encoder],
  ] as const)
    await tally.refused(`${path}: a thousand books, and gone`, async () => {
      const before = engine.texts();
      const body = bodyFor(model, many(1000, book));
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      const lines = Object.entries({ host: `127.0.0.1:${server.port}`, ...headers, 'content-length': body.length });
      socket.write(
        `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`,
      );
      socket.write(body);
      await vi.waitFor(() => expect(engine.texts()).toBeGreaterThan(before), { timeout: 60_000 });
      socket.destroy();
      await once(socket, 'close');
      // The current batch may finish, but no more: other requests are answered in the meantime.
      const short = () => post(server, path, bodyFor(model, ['a short one', 'another']));
      await short();
      await short();
      const begun = engine.texts();
      expect(begun - before).toBeLessThan(200);
      for (let times = 0; times < 3; times++) expect((await short()).status).toBe(200);
      expect(engine.texts() - begun).toBe(6);
    });
  tally.settle();
});
