// Who may read a data folder.
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkDataFolder } from '../../../../app/store/folder/data-dir.ts';
import {
  closeBelow,
  closeContents,
  closeFolder,
  makePrivate,
  needReadable,
  othersFolder,
} from '../../../../app/store/folder/permissions.ts';
import { replacePrivate } from '../../../../app/store/folder/private-file.ts';
import { newFolder } from '../support.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** A data folder as an early version left it, open to everybody. */
function open(...others: string[]): string {
  const folder = newFolder();
  mkdirSync(join(folder, 'documents', 'below'), { recursive: true });
  for (const name of ['longhand.db', 'documents/a.pdf', 'documents/below/run.sh', ...others])
    writeFileSync(join(folder, name), 'x');
  for (const [name, mode] of [
    ['', 0o755],
    ['longhand.db', 0o644],
    ['documents', 0o755],
    ['documents/a.pdf', 0o664],
    ['documents/below', 0o777],
    ['documents/below/run.sh', 0o755],
    ...others.map((one) => [one, 0o644] as const),
  ] as const)
    chmodSync(join(folder, name), mode);
  return folder;
}

test('what is Longhand’s becomes its owner’s own, down to the last file, when it has been waited for; what is not stays as it was', async () => {
  const folder = open('thesis.md', '.hidden');
  await closeContents(folder);
  const modes = [
    'longhand.db',
    'documents',
    'documents/a.pdf',
    'documents/below',
    'documents/below/run.sh',
    'thesis.md',
  ];
  expect(modes.map((name) => modeOf(join(folder, name)))).toEqual(['600', '700', '600', '700', '700', '644']);
  // The folder holds something that others may be meant to read.
  closeFolder(folder);
  expect(modeOf(folder)).toBe('755');
  const own = open('.hidden');
  closeFolder(own);
  expect(modeOf(own)).toBe('700');
});

test('a link is not followed, a single file is closed, and what is not there is no trouble', async () => {
  const folder = newFolder();
  const [file, elsewhere, link] = ['a', 'elsewhere', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [file, elsewhere]) {
    writeFileSync(path, 'x');
    chmodSync(path, 0o644);
  }
  symlinkSync(elsewhere, link);
  for (const path of [file, link, join(folder, 'nowhere')]) await closeBelow(path);
  expect([modeOf(file), modeOf(elsewhere)]).toEqual(['600', '644']);
});

test('a file is private before anything stands in it, and one that is replaced is so too', () => {
  const folder = newFolder();
  const path = join(folder, 'a.json');
  makePrivate(path);
  expect([modeOf(path), readFileSync(path, 'utf8')]).toEqual(['600', '']);
  writeFileSync(path, 'older');
  makePrivate(path);
  expect(readFileSync(path, 'utf8')).toBe('older');
  // Left by a process that ended in between, for everybody to read.
  writeFileSync(`${path}.new`, 'half');
  linkSync(`${path}.new`, join(folder, 'other'));
  chmodSync(`${path}.new`, 0o666);
  replacePrivate(path, 'newer');
  expect([modeOf(path), readFileSync(path, 'utf8'), existsSync(`${path}.new`)]).toEqual(['600', 'newer', false]);
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('half');
  expect(() => makePrivate(join(folder, 'nowhere', 'a'))).toThrow(expect.objectContaining({ code: 'not-found' }));
});

test('a folder that is another’s is named with its owner; one that is not there yet is fine, and one below a file is none', () => {
  const folder = newFolder();
  const { uid } = statSync(folder);
  expect(othersFolder('/data', folder)).toMatchObject({
    code: 'permission',
    message: expect.stringContaining(`${folder} belongs to another user of this computer (user id ${uid})`),
    details: { folder: '/data', path: folder, owner: uid },
  });
  expect(othersFolder('/data', join(folder, 'nowhere')).message).toContain('(user id unknown)');
  for (const path of [folder, join(folder, 'nowhere')]) expect(() => needReadable(path)).not.toThrow();
  writeFileSync(join(folder, 'file'), '');
  for (const path of [folder, join(folder, 'new', 'newer'), '/']) expect(() => checkDataFolder(path)).not.toThrow();
  for (const path of ['file', 'file/below/it'])
    expect(() => checkDataFolder(join(folder, path))).toThrow(
      `[--data] ${join(folder, 'file')} is a file; a folder is needed`,
    );
});
