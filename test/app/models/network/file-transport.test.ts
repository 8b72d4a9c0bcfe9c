// A file on another disk or a share, answered as a server with ranges would.
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openFile } from '../../../../app/models/network/file-transport.ts';
import { newFolder } from '../../../support/core/core.ts';

test.each([
  [undefined, 200, '0123456789', null],
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=4-4', 206, '4', 'bytes 4-4/10'],
  ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
  ['bytes=6-10', 206, '6789', 'bytes 6-9/10'],
  ['bytes=6-99', 206, '6789', 'bytes 6-9/10'],
  ['bytes=10-12', 416, '', null],
])('%s of ten bytes: %i', async (range, status, text, told) => {
  const file = join(newFolder(), 'ten');
  writeFileSync(file, '0123456789');
  const signal = new AbortController().signal;
  const answer = await openFile(
    pathToFileURL(file),
    { 'accept-encoding': 'identity', ...(range && { range }) },
    signal,
  );
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  expect([answer.status, Buffer.concat(pieces).toString(), answer.header('content-range')]).toEqual([
    status,
    text,
    told,
  ]);
  expect(answer.header('content-length')).toBe(status === 416 ? null : String(text.length));
  expect(answer.header('location')).toBeNull();
});

test('a file that has changed has another tag, an empty one no bytes; what is not there or no file is not found', async () => {
  const folder = newFolder();
  const file = join(folder, 'ten');
  writeFileSync(file, '0123456789');
  const open = async (path: string, stop = new AbortController()) =>
    await openFile(pathToFileURL(path), { 'accept-encoding': 'identity' }, stop.signal);
  const tag = (await open(file)).header('etag');
  expect(tag).toMatch(/^"10-\d+"$/);
  expect((await open(file)).header('etag')).toBe(tag);
  truncateSync(file, 0);
  const empty = await open(file);
  expect([empty.status, empty.header('content-length'), empty.header('etag') === tag]).toEqual([200, '0', false]);
  expect((await open(join(folder, 'none'))).status).toBe(404);
  expect((await open(folder)).status).toBe(404);
  expect((await open(join(file, 'below'))).status).toBe(503);

  writeFileSync(file, Buffer.alloc(1 << 20));
  const stop = new AbortController();
  const { body } = await open(file, stop);
  await expect(async () => {
    for await (const _ of body) stop.abort(new Error('stopped'));
  }).rejects.toThrow('stopped');
});
