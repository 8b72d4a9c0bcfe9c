// What ModelScope tells of models, and what a single address tells, as this app takes it.
import { expect, test } from 'vitest';
import { network } from '../../../../app/models/network/http-request.ts';
import type { RequestPurpose } from '../../../../app/models/network/request-purpose.ts';
import { modelScopeSource, urlSource } from '../../../../app/models/sources/modelscope.ts';

const never = new AbortController().signal;

/** A server that gives this answer to everything. */
function answering(answer: unknown, headers: Record<string, string> = {}, status = 200) {
  const asked: [string, RequestPurpose][] = [];
  const via = (why: RequestPurpose): typeof network => ({
    ...network,
    async open(url) {
      asked.push([url.href, why]);
      const body = (async function* () {
        yield Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer));
      })();
      return { status, header: (name) => headers[name] ?? null, body, cancel: () => {} };
    },
  });
  return { asked, via };
}

test('models that are found: their name, how often they were fetched, and when they changed', async () => {
  const models = [
    { Path: 'acme', Name: 'tiny', Downloads: 7, Stars: 2, LastUpdatedTime: 1_900_000_000 },
    { Path: 'acme', Name: 'new' },
    { Path: '..', Name: '../etc' },
    { Name: 'nobody' },
    { Path: 'acme' },
    null,
  ];
  const { asked, via } = answering({ Data: { Models: models } });
  const source = modelScopeSource('https://scope.example//', via);
  expect(source.host).toBe('scope.example');
  const found = await source.search({ text: 'a b&c', limit: 5 } as Parameters<typeof source.search>[0], never);
  const common = { source: 'modelscope', gated: false, runs: null };
  expect(found).toEqual([
    { ...common, name: 'acme/tiny', downloads: 7, likes: 2, updatedAt: 1_900_000_000_000 },
    { ...common, name: 'acme/new', downloads: null, likes: null, updatedAt: null },
  ]);
  expect(asked).toEqual([
    ['https://scope.example/api/v1/models?Name=a%20b%26c&PageSize=5', { reason: 'search', about: 'a b&c' }],
  ]);
});

test('the files of a repository at its commit, which is that of the latest change where none is named', async () => {
  const [older, newer, latest] = ['1', '2', '3'].map((digit) => digit.repeat(40));
  const sha = 'a'.repeat(64);
  const files = [
    { Path: 'config.json', Type: 'blob', Size: 3, Sha256: sha, Revision: older, CommittedDate: 5 },
    { Path: 'below', Type: 'tree', Size: 0, Revision: latest },
    { Path: 'below/my model.gguf', Type: 'blob', Size: 9, Revision: newer, CommittedDate: 6 },
    null,
  ];
  const { asked, via } = answering({ Data: { LatestCommitter: null, Files: files } });
  const source = modelScopeSource('https://scope.example', via);
  const found = await source.repository('acme/tiny', null, never);
  expect([found.commit, found.files.map(({ name, size, sha256 }) => [name, size, sha256])]).toEqual([
    newer,
    [
      ['config.json', 3, sha],
      ['below/my model.gguf', 9, null],
    ],
  ]);
  expect(asked[0]?.[0]).toBe('https://scope.example/api/v1/models/acme/tiny/repo/files?Recursive=true&Revision=master');
  expect(asked[0]?.[1]).toEqual({ reason: 'look', about: 'acme/tiny' });
  expect(found.files.map(({ key }) => key)).toEqual([
    `modelscope:acme/tiny@${newer}/config.json#${sha}`,
    `modelscope:acme/tiny@${newer}/below/my model.gguf#`,
  ]);
  expect(await found.files[1]?.address()).toEqual({
    url: `https://scope.example/models/acme/tiny/resolve/${newer}/below/my%20model.gguf`,
  });

  const commitOf = async (told: object, revision: string | null = null) =>
    (await modelScopeSource('https://scope.example', answering(told).via).repository('a/b', revision, never)).commit;
  expect(await commitOf({ Data: { LatestCommitter: { Id: latest }, Files: files } })).toBe(latest);
  const [{ Revision: _, ...plain } = {}] = files as object[] as { Revision: string }[];
  expect(await commitOf({ Data: { LatestCommitter: { Id: 'no commit' }, Files: [plain] } }, 'v2')).toBe('v2');
  await expect(commitOf({ Data: { Files: [files[1]] } })).rejects.toMatchObject({
    code: 'not-found',
    message: '[modelscope] a/b at master has no files',
  });
});

test('one file behind an address: its name, its size, and what tells its version', async () => {
  const at = (address: string, headers: object) =>
    urlSource(answering('x', headers as Record<string, string>, 206).via).repository(address, null, never);
  const range = { 'content-range': 'bytes 0-0/99' };
  const found = await at('https://files.example/a/my%20model.gguf?x=1', { ...range, etag: '"v1"' });
  expect(found).toMatchObject({ source: 'url', commit: '"v1"', gated: false });
  expect(found.files).toMatchObject([{ name: 'my model.gguf', size: 99, sha256: null, etag: '"v1"' }]);
  expect((await at('https://files.example/x.gguf', range)).commit).toBe('99 bytes');
  await expect(at('https://files.example/x.gguf', { 'content-range': 'bytes 0-0/*' })).rejects.toThrow(
    '[url] files.example does not say how large the file is',
  );
  const source = urlSource(answering('').via);
  expect([source.id, source.host, await source.search({ text: 'x', limit: 5 } as never, never)]).toEqual([
    'url',
    null,
    [],
  ]);
});
