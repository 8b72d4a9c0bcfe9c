import { expect, onTestFinished, test, vi } from 'vitest';
import { createConnection } from '../../../app/tools/mcp/connection.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';
import { type Answer, type Asked, hostile, json, serve } from './hostile-tool-server.ts';
import { result, wrongAnswers } from './wrong-answers.ts';

//  What servers suggest for the blanks of their prompts: few, short, readable, and never in the way of who types.

vi.setConfig({ testTimeout: 180_000 });
const tally = tallyOf('toolServers');

const MAX_GROWTH = 400e6;
const MAX_STALL_MS = 200;
const SECRET = 'secret-of-the-server';
const MARKS =
  '\u0000\u0009\u000a\u001b\u007f\u0085\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2060\u2066\u2069\ufeff\u{e0041}';

const list = (suggested: unknown[]) => result(JSON.stringify({ completion: { values: suggested } }));
const values = (...suggested: unknown[]) => list(suggested);
const many = (count: number, suggested: (at: number) => unknown) =>
  list(Array.from({ length: count }, (_, at) => suggested(at)));
const fails = (message: string): Answer => {
  return (response, { id }) => json(response, { jsonrpc: '2.0', id, error: { code: -32602, message } });
};

/** With what is left of them, and where that ends the connection. */
const answers: Readonly<Record<string, [Answer, readonly string[], 'ended'?]>> = {
  'a million suggestions': [many(1_000_000, () => 'x'), [], 'ended'],
  'a million different suggestions': [many(1_000_000, (at) => `x${at}`), [], 'ended'],
  'a hundred thousand suggestions': [many(100_000, (at) => `x${at}`), []],
  'one more than the protocol allows': [many(101, (at) => `x${at}`), []],
  'as many as the protocol allows': [many(100, (at) => `x${at}`), Array.from({ length: 20 }, (_, at) => `x${at}`)],
  'the same a hundred times': [many(100, () => 'x'), ['x']],
  'one of 8 MB': [values('x'.repeat(8e6), 'short'), ['short']],
  'ten of a megabyte': [many(10, () => 'x'.repeat(1e6)), []],
  'spaces of 8 MB': [values(' '.repeat(8e6), 'short'), ['short']],
  'marks of megabytes': [values(MARKS.repeat(2e5), 'short'), ['short']],
  'nothing but spaces': [values('', ' ', '\u00a0', '\u3000'), []],
  'half a character': [values('\ud83d', 'a\udc00b', 'short'), ['short']],
  'several lines': [values('one\ntwo', 'one\r\ntwo', 'one\u2028two', 'short'), ['short']],
  'words that are written with joiners': [
    values('\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645', '\u{1f469}\u200d\u{1f33e}'),
    ['\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645', '\u{1f469}\u200d\u{1f33e}'],
  ],
  'names of prototypes': [values('__proto__', 'constructor'), ['__proto__', 'constructor']],
  'an answer of prototypes': [result('{"completion":{"__proto__":{"values":["x"]}}}'), []],
  'the secret it was given': [values(SECRET, `${SECRET} and more`, 'short'), ['short']],
  numbers: [values(1, 2, 3), []],
  'numbers among texts': [values('x', 7), []],
  lists: [values(['x']), []],
  'values that are a number': [result('{"completion":{"values":7}}'), []],
  'values that are a text': [result('{"completion":{"values":"abc"}}'), []],
  'values that are an object': [result('{"completion":{"values":{"length":3,"0":"x"}}}'), []],
  'no values': [result('{"completion":{}}'), []],
  'no completion': [result('{}'), []],
  'a completion that is a list': [result('{"completion":["x"]}'), []],
  null: [result('null'), []],
  'a total that is a text': [result('{"completion":{"values":["x"],"total":"many"}}'), []],
  'a total below nothing': [result('{"completion":{"values":["x"],"total":-1}}'), ['x']],
  'more without end': [result('{"completion":{"values":["x"],"hasMore":true}}'), ['x']],
  'a failure': [fails('no'), []],
  'a failure of 8 MB': [fails('x'.repeat(8e6)), []],
  'a failure with the secret': [fails(SECRET), []],
  'no answer': [() => {}, []],
  ...Object.fromEntries(
    [...MARKS].map((mark) => [
      `one with U+${mark.codePointAt(0)?.toString(16)}`,
      [values(`invoice${mark}fdp.exe`, 'short'), ['short']],
    ]),
  ),
};

const blank = { name: 'p', argument: 'a', value: 'x', given: {} };
const connect = (url: string) => {
  const connection = createConnection({
    version: '1',
    config: async () => ({ url, headers: { 'x-key': SECRET } }),
    fetch,
    changed: () => {},
    offered: () => {},
  });
  onTestFinished(() => connection.close());
  return connection;
};

/** What is suggested, within the time that an answer may take. */
async function suggestedBy(answer: Answer): Promise<{ found: string[]; connection: ReturnType<typeof connect> }> {
  const connection = connect(await hostile('completion/complete', answer));
  await connection.offer();
  const stop = observe();
  const found = await Promise.race([
    connection.suggestions(blank, undefined),
    new Promise<string[]>((late) => setTimeout(() => late(['it is still being heard']), 7000)),
  ]);
  const { grown, stall } = stop();
  expect(connection.log().join('')).not.toContain(SECRET);
  expect(connection.log().join('').length).toBeLessThan(100_000);
  expect(grown).toBeLessThan(MAX_GROWTH);
  expect(stall).toBeLessThan(MAX_STALL_MS);
  return { found, connection };
}

test('suggestions that are too many, too long, of another kind, or hide something', async () => {
  for (const [what, [answer, left, ended]] of Object.entries(answers))
    await tally.refused(`suggestions: ${what}`, async () => {
      const { found, connection } = await suggestedBy(answer);
      expect(found).toEqual(left);
      // Short of a flood it is no reason to end a server: the text is asked for as ever.
      if (ended) expect(connection.state()).toMatchObject({ status: 'failed', problem: 'too-much' });
      else expect(connection.state()).toEqual({ status: 'ready' });
      expect(await connection.prompt('p', {})).toEqual([]);
      await connection.close();
    });
  tally.settle();
});

test('servers that answer wrongly suggest nothing', async () => {
  const visitors: string[] = [];
  const elsewhere = await serve((request, response) => {
    visitors.push(`${request.method} ${request.url}`);
    response.end('{}');
  });
  for (const [what, answer] of Object.entries(wrongAnswers(elsewhere)))
    await tally.refused(`completion/complete: ${what}`, async () => {
      const { found, connection } = await suggestedBy(answer);
      expect(found).toEqual([]);
      expect(visitors).toEqual([]);
      await connection.close();
    });
  tally.settle();
});

const typedIn = (asked: Asked) => (asked.params as { argument?: { value?: string } } | undefined)?.argument?.value;

test('what was asked before answers late, under another number, or twice: only the answer to the question counts', async () => {
  const late: Readonly<Record<string, Answer>> = {
    'the earlier answer comes later': (response, asked) =>
      void setTimeout(() => values(typedIn(asked))(response, asked), typedIn(asked) === 'early' ? 400 : 50),
    'the earlier is answered with the later': (response, asked) => {
      if (typedIn(asked) === 'early') return;
      json(response, [
        { jsonrpc: '2.0', id: Number(asked.id) - 1, result: { completion: { values: ['wrong'] } } },
        { jsonrpc: '2.0', id: asked.id, result: { completion: { values: ['late'] } } },
        { jsonrpc: '2.0', id: asked.id, result: { completion: { values: ['twice'] } } },
      ]);
    },
  };
  for (const [what, answer] of Object.entries(late))
    await tally.refused(`suggestions: ${what}`, async () => {
      const connection = connect(await hostile('completion/complete', answer));
      await connection.offer();
      const typing = new AbortController();
      const early = connection.suggestions({ ...blank, value: 'early' }, typing.signal);
      await new Promise((soon) => setTimeout(soon, 100));
      typing.abort();
      expect(await connection.suggestions({ ...blank, value: 'late' }, undefined)).toEqual(['late']);
      expect(await early).toEqual([]);
      await connection.close();
    });
  tally.settle();
});

test('a server that has failed is not started by typing, and one that cannot suggest is not asked', async () => {
  await tally.refused('suggestions: a server that ends when it is asked', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked++;
      response.writeHead(500).end();
    });
    const connection = connect(url);
    for (let key = 0; key < 20; key++) expect(await connection.suggestions(blank, undefined)).toEqual([]);
    expect(asked).toBe(1);
    expect(connection.state()).toMatchObject({ status: 'failed' });
  });
  await tally.refused('suggestions: a server that never said it can', async () => {
    const asked: (string | undefined)[] = [];
    const url = await serve(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body) as Asked;
      asked.push(method);
      if (id === undefined) return response.writeHead(202).end();
      const about = {
        protocolVersion: params?.protocolVersion,
        capabilities: {},
        serverInfo: { name: 'a', version: '1' },
      };
      json(response, { jsonrpc: '2.0', id, result: { ...about, completion: { values: ['x'] } } });
    });
    expect(await connect(url).suggestions(blank, undefined)).toEqual([]);
    expect(asked).not.toContain('completion/complete');
  });
  tally.settle();
});
