// What is to be downloaded, and what of it is on the disk.
import { expect, test } from 'vitest';
import {
  addBlocks,
  addFile,
  findFile,
  listBlocks,
  removeBlocks,
  removeFile,
  setEtag,
} from '../../../../app/store/models/download-journal.ts';
import {
  addBlob,
  addDownload,
  blocksOfBlob,
  forgetBlocksOfBlob,
  hasBlob,
  listDownloads,
  orderDownloads,
  removeBlob,
  removeDownload,
  renewDownload,
  setBlocksOfBlob,
  setDownloadFiles,
  setDownloadPaused,
} from '../../../../app/store/models/downloads.ts';
import { inMemory } from '../support.ts';

const file = (name: string) => ({ name, size: 3, sha256: 'abc', etag: null });
const row = (id: string, paused = false) => ({
  ...{ id, name: `${id} model`, source: 'hub', repository: 'acme/tiny', commit: 'c1', files: [file('a')], paused },
});

test('downloads keep their order, and what is changed of one is changed of no other', () => {
  const db = inMemory();
  for (const [at, id] of ['x', 'y', 'z'].entries()) addDownload(db, row(id, id === 'y'), at);
  expect(listDownloads(db)).toEqual([row('x'), row('y', true), row('z')]);
  orderDownloads(db, ['z', 'x', 'y']);
  setDownloadPaused(db, 'x', true);
  setDownloadFiles(db, 'z', [file('b'), file('c')]);
  renewDownload(db, 'y', 'c2', [file('d')]);
  const expected = [
    { ...row('z'), files: [file('b'), file('c')] },
    row('x', true),
    { ...row('y'), commit: 'c2', files: [file('d')] },
  ];
  expect(listDownloads(db)).toEqual(expected);
  setDownloadPaused(db, 'x', false);
  addDownload(db, row('last'), 9);
  expect(listDownloads(db).at(-1)?.id).toBe('last');
  // Nobody knows what to go on with where the files cannot be read.
  db.run(`UPDATE downloads SET files = '[]' WHERE id = 'z'`);
  removeDownload(db, 'y');
  expect(listDownloads(db)).toEqual([row('x'), row('last')]);
});

test('a file is known by its version and the size of its blocks, and its blocks by what is in them', () => {
  const db = inMemory();
  addFile(db, { key: 'k', size: 9, etag: null, sha256: 's' }, 4);
  addFile(db, { key: 'other', size: 1, etag: 'e', sha256: null }, 4);
  expect(findFile(db, 'k', 4)).toEqual({ size: 9, etag: null, sha256: 's' });
  expect([findFile(db, 'k', 8), findFile(db, 'nowhere', 4)]).toEqual([undefined, undefined]);
  setEtag(db, 'k', 'new');
  expect([findFile(db, 'k', 4)?.etag, findFile(db, 'other', 4)?.etag]).toEqual(['new', 'e']);
  const block = (number: number, sha256 = `h${number}`) => ({ block: number, sha256 });
  addBlocks(db, 'k', [block(0), block(1), block(2)]);
  addBlocks(db, 'k', [block(1, 'again')]);
  addBlocks(db, 'other', [block(0)]);
  removeBlocks(db, 'k', [0]);
  expect(listBlocks(db, 'k').toSorted((a, b) => a.block - b.block)).toEqual([block(1, 'again'), block(2)]);
  removeFile(db, 'k');
  expect([listBlocks(db, 'k'), findFile(db, 'k', 4)]).toEqual([[], undefined]);
  expect([listBlocks(db, 'other'), findFile(db, 'other', 4)?.size]).toEqual([[block(0)], 1]);
});

test('a file of the library is known by its content and its size; its blocks outlive it, until they are forgotten', () => {
  const db = inMemory();
  addBlob(db, 's', 5);
  addBlob(db, 'other', 5);
  expect([hasBlob(db, 's', 5), hasBlob(db, 's', 6), hasBlob(db, 'x', 5)]).toEqual([true, false, false]);
  expect(blocksOfBlob(db, 's')).toBeNull();
  setBlocksOfBlob(db, 's', new Uint8Array([1]));
  setBlocksOfBlob(db, 's', new Uint8Array([1, 2]));
  removeBlob(db, 's');
  expect([hasBlob(db, 's', 5), hasBlob(db, 'other', 5)]).toEqual([false, true]);
  expect([...(blocksOfBlob(db, 's') ?? [])]).toEqual([1, 2]);
  forgetBlocksOfBlob(db, 's');
  expect(blocksOfBlob(db, 's')).toBeNull();
});
