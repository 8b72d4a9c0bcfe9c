// How many requests a tool server over HTTP gets in a second, and how much it may send.
import { expect, test, vi } from 'vitest';
import { boundedFetch } from '../../../app/tools/mcp/bounded-fetch.ts';

test('of many requests at once the first twenty go, the others in the next second, unless they are taken back', async () => {
  const times: number[] = [];
  const asked = boundedFetch(
    async () => {
      times.push(performance.now());
      return new Response(null);
    },
    () => expect.unreachable('nothing was sent'),
  );
  const first = Array.from({ length: 20 }, () => asked('http://tools.example/'));
  const next = asked('http://tools.example/');
  const stopped = asked('http://tools.example/', { signal: AbortSignal.abort() });
  await Promise.all(first);
  expect(times).toHaveLength(20);
  await expect(stopped).rejects.toThrow('aborted');
  await next;
  expect(times).toHaveLength(21);
  // Timers may come a little early.
  expect((times[20] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
});

const MIB = 2 ** 20;
const STREAM = 'text/event-stream; charset=utf-8';
const big = (bytes: number) => Buffer.alloc(bytes, 'x');

/** A server whose answers come in these pieces, each at its second: what gets through, and why no more. */
async function sent(type: string, pieces: readonly (Buffer | string | [second: number, text: string])[]) {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  const told: string[] = [];
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const asked = boundedFetch(
    async () => new Response(readable, { status: 203, statusText: 'Fine', headers: { 'content-type': type } }),
    ({ problem }) => told.push(problem),
  );
  const answer = await asked('http://tools.example/');
  expect([answer.status, answer.statusText, answer.headers.get('content-type')]).toEqual([203, 'Fine', type]);
  const [reader, writer] = [answer.body?.getReader(), writable.getWriter()];
  let bytes = 0;
  try {
    for (const piece of pieces) {
      const [second, content] = Array.isArray(piece) ? piece : [0, piece];
      clock.mockReturnValue(1000 * second);
      const writes = writer.write(new Uint8Array(Buffer.from(content))).catch(() => {});
      bytes += (await reader?.read())?.value?.length ?? 0;
      await writes;
    }
  } catch (error) {
    told.push((error as Error).message);
  } finally {
    clock.mockRestore();
  }
  return { bytes, told };
}
const TOO_MUCH = ['too-much', 'it sent more than a call can ask for'];

test('an answer has at most sixteen mebibytes, whatever stands in it', async () => {
  expect(await sent('application/json', [big(16 * MIB)])).toEqual({ bytes: 16 * MIB, told: [] });
  expect(await sent('application/json', [big(16 * MIB), 'x'])).toEqual({ bytes: 16 * MIB, told: TOO_MUCH });
  expect((await sent('application/json', [big(9 * MIB), '\n\n', big(9 * MIB)])).told).toEqual(TOO_MUCH);
});

test.each(['\n\n', '\r\n\r\n', '\r\r'])(
  'a message of a stream has as many, and ends with %j, also in two pieces',
  async (end) => {
    const half = end.length / 2;
    const cut = await sent(STREAM, [big(9 * MIB), end.slice(0, half), end.slice(half), big(9 * MIB)]);
    expect(cut).toEqual({ bytes: 18 * MIB + end.length, told: [] });
    expect((await sent(STREAM, [big(9 * MIB), end.slice(0, half), big(9 * MIB)])).told).toEqual(TOO_MUCH);
  },
);

test('a message whose lines come one by one is as long as its lines', async () => {
  const line = Buffer.concat([big(MIB - 1), Buffer.from('\n')]);
  expect((await sent(STREAM, Array(16).fill(line))).told).toEqual([]);
  expect((await sent(STREAM, [...Array(16).fill(line), 'x'])).told).toEqual(TOO_MUCH);
});

test('of a stream at most sixty-four mebibytes come in a second', async () => {
  const pieces = Array.from({ length: 4 }, () => Buffer.concat([big(16 * MIB - 2), Buffer.from('\n\n')]));
  expect(await sent(STREAM, [...pieces, 'x'])).toEqual({ bytes: 64 * MIB, told: TOO_MUCH });
});

test('of a stream at most a thousand messages come in a second, and in the next as many again', async () => {
  const messages = (count: number) => 'a\n\n'.repeat(count);
  expect((await sent(STREAM, [messages(1000), 'b'])).told).toEqual([]);
  expect((await sent(STREAM, [messages(1000), 'b\n\n'])).told).toEqual(TOO_MUCH);
  expect((await sent(STREAM, Array(1000).fill(messages(1)))).told).toEqual([]);
  expect((await sent(STREAM, [messages(900), [1, messages(101)]])).told).toEqual(TOO_MUCH);
  expect((await sent(STREAM, [messages(900), [1.001, messages(1000)]])).told).toEqual([]);
});
