import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readArguments } from '../../../app/server/main.ts';
import { defaultPort, lastPort } from '../../../app/server/port-file.ts';
import { startBrowserHost } from '../../../app/server/web-server.ts';
import { newFolder, places } from '../../support/core/core.ts';

const serve = (dataFolder: string, port?: number) =>
  startBrowserHost({
    host: { connect: () => {}, dataFolder, refusedVisitor: () => {} },
    renderer: places.renderer,
    ...(port !== undefined && { port }),
  });

test('a restart takes the port of the last time, so that an open page comes back; a taken one is passed over', async () => {
  const folder = newFolder();
  expect(lastPort(folder)).toBe(defaultPort);
  const first = await serve(folder, 0);
  await first.close();
  const second = await serve(folder);
  expect(second.port).toBe(first.port);
  await second.close();

  const other = createServer().listen(first.port, '127.0.0.1');
  onTestFinished(() => void other.close());
  const third = await serve(folder);
  expect(third.port).not.toBe(first.port);
  expect(lastPort(folder)).toBe(third.port);
  await third.close();
});

test('a file that says no port is no memory', () => {
  const folder = newFolder();
  for (const text of ['', 'x', '-1', '65536', '70000', '3.5']) {
    writeFileSync(join(folder, 'browser-port'), text);
    expect(lastPort(folder)).toBe(defaultPort);
  }
});

test('a link in its place is replaced, and what it led to stays as it was', async () => {
  const folder = newFolder();
  const other = join(newFolder(), 'mine');
  writeFileSync(other, 'mine');
  symlinkSync(other, join(folder, 'browser-port'));
  const served = await serve(folder, 0);
  await served.close();
  expect(readFileSync(other, 'utf8')).toBe('mine');
  expect(lstatSync(join(folder, 'browser-port')).isSymbolicLink()).toBe(false);
  expect(lastPort(folder)).toBe(served.port);
});

test('any port may be asked for, 0 for one that is free; what is none is refused', () => {
  expect(['0', '1', '65535'].map((port) => readArguments(['--port', port]).port)).toEqual([0, 1, 65_535]);
  for (const port of ['65536', '1.5', 'http']) expect(() => readArguments(['--port', port])).toThrow(`"${port}"`);
});
