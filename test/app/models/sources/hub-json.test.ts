import { expect, test } from 'vitest';
import { network } from '../../../../app/models/network/http-request.ts';
import { askOnly, smallJson } from '../../../../app/models/sources/hub-json.ts';

//  The answers of a hub are short and come from that hub: what is more, or leads elsewhere, is not taken.

const HUB = 'https://hub.example';
const MIB = 2 ** 20;

/** A hub whose pages are these, asked in turn. */
function hub(page: (url: URL) => Response) {
  const asked: [url: string, authorization: string | null][] = [];
  const heard: [string, number][] = [];
  const net: typeof network = {
    ...network,
    received: (host, bytes) => heard.push([host, bytes]),
    fetch: async (url, init) => {
      asked.push([String(url), new Headers(init?.headers).get('authorization')]);
      return page(new URL(String(url)));
    },
  };
  const ask = askOnly(HUB, net, new AbortController().signal);
  return { asked, heard, ask: (path: string) => ask(new URL(path, HUB), { headers: { authorization: 'Bearer x' } }) };
}
const blanks = (bytes: number) => new Response(new Uint8Array(bytes).fill(0x20));
const moved = (location: string) => new Response('', { status: 302, headers: { location } });

test('an answer has at most 16 MiB, all pages of a request together 32', async () => {
  expect((await (await hub(() => blanks(16 * MIB)).ask('/list')).arrayBuffer()).byteLength).toBe(16 * MIB);
  const more = hub(() => blanks(16 * MIB + 1)).ask('/list');
  await expect(more).rejects.toMatchObject({
    code: 'wrong-content',
    message: expect.stringContaining('16777216 bytes'),
  });

  const pages = hub(({ search }) => blanks(search === '?p=5' ? 1 : 8 * MIB));
  for (let page = 1; page <= 4; page++) await pages.ask(`/list?p=${page}`);
  await expect(pages.ask('/list?p=5')).rejects.toMatchObject({
    code: 'wrong-content',
    message: '[hub] hub.example answered with more than 33554432 bytes, which is the limit',
  });
  expect(pages.heard.reduce((sum, [, bytes]) => sum + bytes, 0)).toBe(32 * MIB + 1);
});

test('at most fifty pages are asked for, and at most five redirects followed', async () => {
  const { ask, asked } = hub(() => new Response('[]'));
  for (let page = 0; page < 50; page++) await ask(`/list?p=${page}`);
  await expect(ask('/list?p=50')).rejects.toThrow('more than 50 pages');
  expect(asked).toHaveLength(50);

  const hops = (count: number) =>
    hub(({ pathname }) =>
      Number(pathname.slice(1)) < count ? moved(`/${Number(pathname.slice(1)) + 1}`) : new Response('[]'),
    );
  expect((await hops(5).ask('/0')).status).toBe(200);
  await expect(hops(6).ask('/0')).rejects.toThrow('more than 5 redirects from hub.example');
});

test('the next page is asked of the hub, whoever it names; a redirect takes no key along', async () => {
  const { ask, asked } = hub(({ host }) =>
    host === 'hub.example' ? moved('https://cdn.example/x') : new Response('[]'),
  );
  await ask('/list');
  expect(asked).toEqual([
    [`${HUB}/list`, 'Bearer x'],
    ['https://cdn.example/x', null],
  ]);
  await ask('https://evil.example/list?page=2');
  expect(asked[2]).toEqual([`${HUB}/list?page=2`, 'Bearer x']);
});

test.each([
  ['http://cdn.example/x', 'redirect from hub.example to http:, only https is allowed'],
  ['ftp://cdn.example/x', 'redirect from hub.example to ftp:, only https is allowed'],
  ['https://a:b@cdn.example/x', 'to an address with a password'],
  ['https://192.168.0.7/x', 'into the own network'],
  ['https://', 'to something that is not an address'],
])('a redirect to %s is refused', async (location, why) => {
  const { ask, asked } = hub(() => moved(location));
  await expect(ask('/list')).rejects.toMatchObject({ code: 'server', message: expect.stringContaining(why) });
  expect(asked).toHaveLength(1);
});

test('what is no JSON is said so, and an answer without a body is empty', async () => {
  expect(await (await hub(() => new Response(null, { status: 204 })).ask('/x')).text()).toBe('');
  const body = async function* () {
    yield Buffer.from('<html>');
  };
  await expect(smallJson(body(), 'hub.example')).rejects.toMatchObject({ code: 'wrong-content' });
});
