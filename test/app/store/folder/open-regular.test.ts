import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import {
  openRegular,
  piecesOfRegular,
  readRegular,
  readRegularSync,
} from '../../../../app/store/folder/open-regular.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhand-regular-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

/** What takes longer than this waits for somebody to write. */
const soon = <T>(work: Promise<T>) =>
  Promise.race([
    work,
    sleep(3000).then(() => {
      throw new Error('it waits');
    }),
  ]);

const refused = { code: 'unreadable', message: expect.stringContaining('expected a file') };

test('a named pipe is refused at once, whoever opens it and by whatever name', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  execFileSync('ln', ['-s', 'pipe', at('link')]);
  for (const path of [at('pipe'), at('link')]) {
    await expect(soon(openRegular(path))).rejects.toMatchObject(refused);
    await expect(soon(readRegular(path, 100))).rejects.toMatchObject(refused);
    expect(() => readRegularSync(path, 100)).toThrow('is a named pipe, expected a file');
    await expect(soon(piecesOfRegular(path).next())).rejects.toMatchObject(refused);
  }
});

test('sockets, devices and folders are refused', async () => {
  const server = createServer().listen(at('socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  for (const [path, kind] of [
    [at('socket'), 'a socket'],
    ['/dev/zero', 'a device'],
    ['/dev/tty', 'a device'],
    [folder, 'a folder'],
  ] as const) {
    await expect(readRegular(path, 100)).rejects.toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining(kind),
    });
    expect(() => readRegularSync(path, 100)).toThrow(kind);
  }
  server.close();
});

test('a file is read whole, up to what is allowed and not one byte more', async () => {
  writeFileSync(at('text'), 'x'.repeat(100_000));
  expect((await readRegular(at('text'), 100_000)).length).toBe(100_000);
  expect(readRegularSync(at('text'), 100_000).toString()).toBe('x'.repeat(100_000));
  const tooLarge = { code: 'too-large', message: expect.stringContaining('99999') };
  await expect(readRegular(at('text'), 99_999)).rejects.toMatchObject(tooLarge);
  expect(() => readRegularSync(at('text'), 99_999)).toThrow('more than 99999 bytes');
});

test('a file that grows while it is read ends at the limit', async () => {
  writeFileSync(at('growing'), 'x');
  const writing = setInterval(() => appendFileSync(at('growing'), 'x'.repeat(200_000)), 0);
  let grown: unknown = null;
  for (let round = 0; round < 200 && grown === null; ++round) {
    grown = await readRegular(at('growing'), 1_000_000).then(
      () => null,
      (error: unknown) => error,
    );
  }
  clearInterval(writing);
  expect(grown).toMatchObject({ code: 'too-large' });
});

test('files of the kernel, which say that they are empty, are read to the end', async (context) => {
  if (process.platform !== 'linux') return context.skip('needs Linux: files of the kernel');
  const text = (await readRegular('/proc/self/maps', 16 << 20)).toString();
  expect(text.length).toBeGreaterThan(1000);
  expect(text.endsWith('\n')).toBe(true);
  await expect(readRegular('/proc/self/maps', 100)).rejects.toMatchObject({ code: 'too-large' });
});

test('pieces begin and end where they are asked to', async () => {
  writeFileSync(at('digits'), '0123456789');
  const pieces: string[] = [];
  for await (const piece of piecesOfRegular(at('digits'), { start: 2, end: 9, atOnce: 3 })) pieces.push(String(piece));
  expect(pieces).toEqual(['234', '567', '8']);
});

test('what the system says has its own code: missing, forbidden, no more files', async () => {
  await expect(readRegular(at('nowhere'), 100)).rejects.toMatchObject({ code: 'not-found' });
  await expect(readRegular(join(at('digits'), 'below'), 100)).rejects.toMatchObject({ code: 'not-found' });
  const script = `
    import { openSync } from 'node:fs';
    import { failureOf } from ${JSON.stringify(join(import.meta.dirname, '../../../../app/protocol/index.ts'))};
    import { readRegular } from ${JSON.stringify(join(import.meta.dirname, '../../../../app/store/folder/open-regular.ts'))};
    try { for (;;) openSync(${JSON.stringify(at('digits'))}); } catch {}
    console.log(await readRegular(${JSON.stringify(at('digits'))}, 100).catch((error) => failureOf(error).code));`;
  const out = execFileSync('sh', [
    '-c',
    'ulimit -n 64; exec "$0" --input-type=module -e "$1"',
    process.execPath,
    script,
  ]);
  expect(out.toString().trim()).toBe('too-many-files');
});

test('files are closed again, also after a refusal', async () => {
  const before = openSync(at('digits'), 'r');
  closeSync(before);
  for (let round = 0; round < 50; ++round) {
    await readRegular(at('text'), 10).catch(() => {});
    await openRegular(folder).catch(() => {});
    for await (const _ of piecesOfRegular(at('text'), { atOnce: 10 })) break;
  }
  const after = openSync(at('digits'), 'r');
  closeSync(after);
  expect(after - before).toBeLessThan(5);
});
