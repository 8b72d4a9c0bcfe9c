import type { ServerResponse } from 'node:http';
import { hostname, userInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Connection, createConnection } from '../../../app/tools/mcp/connection.ts';
import { createProgramTransport } from '../../../app/tools/mcp/program-transport.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';
import { type Asked, hostile } from './hostile-tool-server.ts';
import { DESCRIPTIONS, LINES, REQUESTS, RESULTS, SECRET, TOOL } from './tool-messages.ts';

//  Tool servers that send requests to us: for sampling, for user input, for the list of folders; and messages that
//  violate JSON-RPC. The only response is "method not found", and the next call works or fails with a message.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('toolServers');

const MAX_GROWTH = 400e6;
const MAX_STALL_MS = 200;
const NO_SUCH_METHOD = -32601;

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

const toolsOf = async (connection: Connection) => (await connection.offer()).tools;

/** The outcome, with a time limit. */
const soon = <T>(work: Promise<T>): Promise<T | Error> =>
  Promise.race([
    work.catch((error: Error) => error),
    setTimeout(5000, new Error('it is still being heard'), { ref: false }),
  ]);

async function bounded<T>(work: () => Promise<T>): Promise<T> {
  const stop = observe();
  const done = await work();
  const { grown, stall } = stop();
  expect(grown).toBeLessThan(MAX_GROWTH);
  expect(stall).toBeLessThan(MAX_STALL_MS);
  return done;
}

/** Whether its id is valid (an integer or a string); otherwise it is not a request. */
const isQuestion = ({ id }: Asked) => typeof id === 'string' || Number.isSafeInteger(id);

/** Sends these before the requested list of tools. */
const before =
  (frames: readonly string[]) =>
  (response: ServerResponse, { id }: Asked) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const last = JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [TOOL] } });
    for (const frame of [...frames, last]) response.write(`data: ${frame}\n\n`);
    response.end();
  };

test('servers that ask for models, words of the user, folders and files are told that there are none', async () => {
  for (const [what, sent] of Object.entries(REQUESTS)) {
    const frames = [sent].flat();
    const questions = frames.filter((frame) => isQuestion(JSON.parse(frame) as Asked)).length;
    await tally.refused(`asked for ${what}`, async () => {
      const heard: Asked[] = [];
      const url = await hostile('tools/list', before(frames), (said) => heard.push(said));
      const connection = connect(url);
      const tools = await bounded(() => soon(toolsOf(connection)));
      // Too many at once end the connection; cancelled requests need no response.
      if (tools instanceof Error) expect(tools.message).not.toMatch(/still being heard/);
      else expect(tools.map(({ name }) => name)).toEqual(['go']);
      if (questions > 0 && !(tools instanceof Error))
        await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0), { timeout: 2000, interval: 5 });
      for (const said of heard) {
        expect(said.result, JSON.stringify(said).slice(0, 200)).toBeUndefined();
        expect(said.error?.code).toBe(NO_SUCH_METHOD);
        const words = JSON.stringify(said);
        for (const secret of [SECRET, process.cwd(), userInfo().homedir, hostname(), process.env.PATH ?? SECRET])
          expect(words).not.toContain(secret);
      }
      expect(heard.length).toBeLessThanOrEqual(questions);
      expect(connection.log().join('').length).toBeLessThan(100_000);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      await connection.close();
    });
  }
  tally.settle();
});

test('what is no answer to a call is an error of that call, or the end of that server', async () => {
  for (const [what, answer] of Object.entries(RESULTS)) {
    await tally.refused(`answered with ${what}`, async () => {
      const connection = connect(await hostile('tools/call', answer));
      expect(await soon(toolsOf(connection))).toEqual([]);
      const given = AbortSignal.timeout(500);
      const outcome = await bounded(() => soon(connection.call({ name: 'go' }, {}, given)));
      if (outcome instanceof Error) {
        // Without an answer, the call lasts until the user stops it.
        expect(outcome).toMatchObject({ name: 'ToolError' });
        expect(outcome.message).not.toContain(SECRET);
      } else {
        expect(outcome.pictures.length).toBeLessThanOrEqual(8);
        for (const { name } of outcome.pictures) expect(name).toMatch(/^picture-\d\.(png|jpeg|gif|webp|avif|tiff)$/);
        expect(outcome.text).not.toContain(SECRET);
        expect(outcome.text).not.toContain('second');
        expect(outcome.text).not.toContain('wrong');
      }
      expect(connection.log().join('')).not.toContain(SECRET);
      expect(connection.log().join('').length).toBeLessThan(100_000);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      await connection.close();
    });
  }
  tally.settle();
});

test('what a server says of itself is held to a few tools of a bounded size', async () => {
  for (const [what, [method, answer]] of Object.entries(DESCRIPTIONS)) {
    await tally.refused(`of itself: ${what}`, async () => {
      const visited: string[] = [];
      const connection = createConnection({
        version: '1',
        config: async () => ({ url, headers: { 'x-key': SECRET } }),
        fetch: (input, init) => {
          visited.push(new URL(String(input)).origin);
          return fetch(input, init);
        },
        changed: () => {},
        offered: () => {},
      });
      const url = await hostile(method, answer);
      const tools = await bounded(() => soon(toolsOf(connection)));
      if (tools instanceof Error) expect(tools).toMatchObject({ name: 'McpError' });
      else
        for (const one of tools) {
          expect(JSON.stringify(one).length).toBeLessThan(33_000);
          // It is shown where the user is asked to allow it.
          expect(one.name).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        }
      expect([...new Set(visited)]).toEqual([new URL(url).origin]);
      expect(connection.log().join('').length).toBeLessThan(100_000);
      await connection.close();
    });
  }
  tally.settle();
});

test('programs that write no messages are noted or ended, and nothing of ours stands still for them', async () => {
  await Promise.all(
    Object.entries(LINES).map(async ([what, script]) => {
      const heard: unknown[] = [];
      const notes: string[] = [];
      const transport = createProgramTransport(
        { command: '/bin/sh', args: ['-c', `${script}; sleep 5`], env: {} },
        (line) => notes.push(line),
      );
      onTestFinished(() => transport.close());
      transport.onmessage = (one) => heard.push(one);
      await tally.refused(`a program that writes ${what}`, async () => {
        await transport.start();
        await vi.waitFor(
          () => expect(transport.ended !== null || notes.length > 0 || heard.length > 0).toBe(true),
          5000,
        );
        expect(heard.every((one) => typeof one === 'object' && one !== null && 'jsonrpc' in one)).toBe(true);
        expect(heard.length).toBeLessThanOrEqual(20_000);
        await transport.close();
      });
    }),
  );
  tally.settle();
});
