import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFiles } from '../../../../app/models/registry/verify-files.ts';
import type { Manifest } from '../../../../app/models/storage/blob-store.ts';
import { newFolder } from '../../../support/core/core.ts';

//  Real files on the disk. Of their blocks nothing is known, as of those of a mirror without block hashes.

const SIZE = 128 * 2 ** 20;

function largeModel(): { folder: string; manifest: Manifest } {
  const folder = newFolder();
  writeFileSync(join(folder, 'model.safetensors'), '');
  truncateSync(join(folder, 'model.safetensors'), SIZE);
  const files = [{ name: 'model.safetensors', size: SIZE, sha256: 'a'.repeat(64), etag: null }];
  return { folder, manifest: { name: 'x', source: 'url', repository: 'x', commit: 'c', files, checkedAt: 0 } };
}

test('a model can be removed while a large file of it is checked, without waiting for the end of the file', async () => {
  const { folder, manifest } = largeModel();
  const stop = new AbortController();
  const told: number[] = [];
  const progress = (checked: number) => {
    told.push(checked);
    stop.abort(new Error('removed'));
  };
  await expect(checkFiles(folder, manifest, () => null, progress, stop.signal)).rejects.toThrow('removed');
  expect(told).toHaveLength(1);
});

test('how far a check has come is told a few times a second, not at every piece of a file', async () => {
  const { folder, manifest } = largeModel();
  const told: number[] = [];
  const begin = performance.now();
  const progress = (checked: number) => void told.push(checked);
  const damaged = await checkFiles(folder, manifest, () => null, progress, new AbortController().signal);
  const seconds = (performance.now() - begin) / 1000;
  expect(damaged).toMatchObject([{ bytes: SIZE }]);
  expect(told.at(-1)).toBe(SIZE);
  // The first piece and the end are told at once.
  expect(told.length).toBeLessThanOrEqual(2 + 5 * seconds);
});
