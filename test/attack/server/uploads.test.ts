import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, relative, sep } from 'node:path';
import { ReadableStream } from 'node:stream/web';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LonghandError, uploadPath } from '../../../app/protocol/index.ts';
import { createUploads, uploadLimits } from '../../../app/server/uploads.ts';
import { newFolder } from '../../support/core/core.ts';
import { tallyOf } from '../tally.ts';
import { serve } from './served.ts';

//  Files that a page hands over: under every name, in every set, and with every lie about their size.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('server');

const SET = '0e0f9a52-7a70-4c08-9f0b-1f54c1f7d1a1';
const body = (text = 'text') =>
  new ReadableStream<Uint8Array>({
    start(to) {
      to.enqueue(Buffer.from(text));
      to.close();
    },
  });

const NAMES = [
  '',
  '.',
  '..',
  '...',
  '/',
  '//',
  '\\',
  '../x',
  '..\\x',
  '../../../../etc/passwd',
  '/etc/passwd',
  'C:\\Windows\\x',
  'C:x',
  '\\\\host\\share\\x',
  'a/../../x',
  'a/b/../../../x',
  'a//x',
  './x',
  'x/',
  'x/.',
  'x/..',
  '~',
  '~/x',
  '$HOME/x',
  '`id`',
  '$(id)',
  '%2e%2e%2fx',
  '..%2fx',
  '%00',
  'a\u0000b',
  '\u0000',
  '\u0000/../x',
  'a\nb',
  'a\r\nSet-Cookie: x=1',
  '\u001b[2Jx',
  '\u202efdp.exe',
  'x\u200b',
  '\ufeffx',
  '\ud800',
  '\u{1f600}',
  'x'.repeat(201),
  'x'.repeat(100_000),
  'é'.repeat(200),
  '．．／x',
  '..∕x',
  'CON',
  'nul.txt',
  'aux',
  'x.',
  'x ',
  ' x',
  '-rf',
  '--help',
  '.longhand-library',
  '.hidden',
  'longhand.db',
  'longhand.lock',
  'index.html',
  '__proto__',
  'constructor',
  'x:y',
  'x|y',
  '*',
  '?',
  '<script>',
  '"',
  "'",
  '&amp;',
];
const SETS = [
  '',
  '.',
  '..',
  '../..',
  `${SET}/..`,
  `../${SET}`,
  SET.toUpperCase(),
  SET.slice(1),
  `${SET}0`,
  `${SET}\n`,
  `${SET}\u0000`,
  '/tmp',
  '__proto__',
  '-'.repeat(36),
  'x'.repeat(36),
];

/** Everything in a folder, with what it is. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) =>
    relative(folder, join(entry.parentPath, entry.name)),
  );

test('names and sets', async () => {
  const data = newFolder();
  writeFileSync(join(data, 'longhand.db'), 'the chats');
  writeFileSync(join(data, 'x'), 'untouched');
  const uploads = createUploads(data);
  onTestFinished(() => uploads.close());
  const tried = [
    ...NAMES.map((name) => ({ name, set: undefined })),
    ...NAMES.map((name) => ({ name, set: SET as string | undefined })),
    ...SETS.map((set) => ({ name: 'model.gguf', set: set as string | undefined })),
  ];
  for (const { name, set } of tried)
    await tally.refused(`${JSON.stringify(name).slice(0, 60)} in ${set ?? 'no set'}`, async () => {
      const got = await uploads.receive(body(), name, 4, set).catch((error: unknown) => error);
      if (!(got instanceof LonghandError)) {
        const { path, name: shown } = got as { path: string; name: string };
        expect(path.startsWith(join(data, 'uploads') + sep)).toBe(true);
        expect(lstatSync(path).isFile()).toBe(true);
        expect(lstatSync(path).mode & 0o777).toBe(0o600);
        expect(readFileSync(path, 'utf8')).toBe('text');
        expect(shown).not.toContain('\0');
        if (set === undefined) expect(shown).not.toMatch(/[/\\]/);
        expect(shown.length).toBeLessThanOrEqual(set === undefined ? 200 : 803);
      } else expect(['bad-request', 'conflict', 'cancelled', 'permission']).toContain(got.code);
      expect(
        filesIn(data)
          .filter((file) => !file.startsWith('uploads'))
          .sort(),
      ).toEqual(['longhand.db', 'x']);
      expect(readFileSync(join(data, 'x'), 'utf8')).toBe('untouched');
    });
  tally.settle();
});

test('links in the folder of uploads, and files where folders belong', async () => {
  const [data, outside] = [newFolder(), newFolder()];
  const uploads = createUploads(data);
  onTestFinished(() => uploads.close());
  const folder = join(data, 'uploads');
  writeFileSync(join(outside, 'kept'), 'kept');
  const ways: Readonly<Record<string, () => [name: string, set: string]>> = {
    'a file where the set belongs': () => {
      writeFileSync(join(folder, SET), 'a file');
      return ['x', SET];
    },
    'a folder where a file belongs': () => {
      const set = SET.replace('0', '1');
      mkdirSync(join(folder, set, 'x'), { recursive: true });
      return ['x', set];
    },
    'a file of the set where a folder belongs': () => {
      const set = SET.replace('0', '2');
      mkdirSync(join(folder, set));
      writeFileSync(join(folder, set, 'a'), 'a file');
      return ['a/x', set];
    },
    'a circle of links': () => {
      const set = SET.replace('0', '3');
      symlinkSync(join(folder, set), join(folder, set));
      return ['x', set];
    },
  };
  for (const [what, prepare] of Object.entries(ways))
    await tally.refused(what, async () => {
      const [name, set] = prepare();
      await expect(uploads.receive(body(), name, 4, set)).rejects.toBeInstanceOf(LonghandError);
      expect(readdirSync(outside)).toEqual(['kept']);
      await expect(uploads.receive(body(), 'next', 4)).resolves.toMatchObject({ name: 'next' });
    });
  tally.settle();
});

test('sizes that are announced, and bodies that come otherwise', async () => {
  const data = newFolder();
  const small = { ...uploadLimits, bytes: 1000, allBytes: 3000, files: 5 };
  const uploads = createUploads(data, small);
  onTestFinished(() => uploads.close());
  const failing = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(10));
      controller.error(new Error('cut'));
    },
  });
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(100)) });
  const empties = new ReadableStream<Uint8Array>({
    pull: (controller) => (Math.random() < 0.0001 ? controller.close() : controller.enqueue(new Uint8Array())),
  });
  const ways: readonly [what: string, body: ReadableStream<Uint8Array>, announced: number, refused: boolean][] = [
    ['more than is announced', body('x'.repeat(1001)), 4, true],
    ['without end', endless, 4, true],
    ['cut off', failing, 10, true],
    ['announced too large', body(), 1e15, true],
    ['announced without end', body(), Number.POSITIVE_INFINITY, true],
    ['announced negative', body(), -1e15, false],
    ['announced as nothing', body('x'.repeat(1001)), Number.NaN, true],
    ['of many empty pieces', empties, 0, false],
  ];
  for (const [what, stream, announced, refused] of ways)
    await tally.refused(what, async () => {
      const before = filesIn(data).length;
      const got = await uploads.receive(stream, 'a', announced).catch((error: unknown) => error);
      expect(got instanceof LonghandError).toBe(refused);
      expect(filesIn(data).length - before).toBe(refused ? 0 : 1);
    });
  await tally.refused('more files than are kept', async () => {
    for (let count = 0; count < 20; count++) await uploads.receive(body(), `f${count}`, 4).catch(() => {});
    expect(filesIn(join(data, 'uploads')).length).toBeLessThanOrEqual(small.files);
  });
  tally.settle();
});

test('requests that are no upload', async () => {
  const { port, origin, secret, dataFolder } = await serve();
  const head = (line: string, ...more: string[]) =>
    [line, `Host: 127.0.0.1:${port}`, `Origin: ${origin}`, `Authorization: Bearer ${secret}`, ...more, '', ''].join(
      '\r\n',
    );
  const path = `${uploadPath}?name=a`;
  const ways: Readonly<Record<string, string>> = {
    'two lengths': `${head(`POST ${path} HTTP/1.1`, 'Content-Length: 3', 'Content-Length: 30')}abc`,
    'a length and pieces': `${head(`POST ${path} HTTP/1.1`, 'Content-Length: 3', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    'a length that is negative': `${head(`POST ${path} HTTP/1.1`, 'Content-Length: -3')}abc`,
    'a length that is a word': `${head(`POST ${path} HTTP/1.1`, 'Content-Length: three')}abc`,
    'a length of a petabyte': `${head(`POST ${path} HTTP/1.1`, 'Content-Length: 1125899906842624')}abc`,
    'a piece of a negative length': `${head(`POST ${path} HTTP/1.1`, 'Transfer-Encoding: chunked')}-1\r\nabc\r\n`,
    'a piece that is too long': `${head(`POST ${path} HTTP/1.1`, 'Transfer-Encoding: chunked')}fffffffffffffffff\r\nabc\r\n`,
    'another coding': `${head(`POST ${path} HTTP/1.1`, 'Transfer-Encoding: gzip')}abc`,
    'with PUT': `${head(`PUT ${path} HTTP/1.1`, 'Content-Length: 3')}abc`,
    'with GET': head(`GET ${path} HTTP/1.1`),
    'with DELETE': head(`DELETE ${path} HTTP/1.1`),
    'a path above': `${head(`POST ${uploadPath}/../../x?name=a HTTP/1.1`, 'Content-Length: 3')}abc`,
    'a path below': `${head(`POST ${uploadPath}/x?name=a HTTP/1.1`, 'Content-Length: 3')}abc`,
    'a form of another page': `${head(`POST ${path} HTTP/1.1`, 'Origin: http://evil.example', 'Content-Type: multipart/form-data; boundary=x', 'Content-Length: 3')}abc`,
  };
  for (const [what, text] of Object.entries(ways))
    await tally.refused(`an upload with ${what}`, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      let heard = '';
      const ended = new Promise<void>((done) => {
        socket.on('data', (piece) => {
          heard += piece;
          done();
        });
        socket.on('close', () => done());
        setTimeout(done, 3000);
      });
      socket.write(text);
      await ended;
      socket.destroy();
      expect(heard).not.toContain('"path"');
      await expect
        .poll(() => (existsSync(join(dataFolder, 'uploads')) ? filesIn(join(dataFolder, 'uploads')) : []))
        .toEqual([]);
    });
  tally.settle();
});
