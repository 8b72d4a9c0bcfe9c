import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { mirror } from '../../../../app/models/relocation/copy-tree.ts';
import { createRwLock } from '../../../../app/models/storage/rw-lock.ts';
import type { ModelId } from '../../../../app/protocol/index.ts';
import { addModel, findModel } from '../../../../app/store/models/models.ts';
import { newFolder } from '../../../support/core/core.ts';

//  The library goes to another folder or disk: whatever happens on the way, one place is complete and is the one that is used.
import {
  blobs,
  db,
  expectWhole,
  files,
  heldMove,
  location,
  MODEL,
  mover,
  newLibrary,
  nothingLeft,
  sha,
  target,
} from '../../../support/models/relocation.ts';

beforeEach(newLibrary);

test('copied, read again, switched, the old one deleted; hard links stay hard links', async () => {
  const { begin, rest, plan, seen } = mover();
  const bytes = Object.values(files).reduce((sum, file) => sum + file.length, 0);
  const planned = await plan(target);
  expect(planned).toMatchObject({ folder: target, copies: true, missing: 0 });
  expect(planned.bytes).toBeGreaterThanOrEqual(bytes);
  expect(planned.bytes).toBeLessThan(bytes + 2000);
  await begin(target);
  await rest();
  expect(location.folder()).toBe(target);
  expectWhole(target);
  nothingLeft(location.home);
  expect(statSync(join(target, MODEL, 'model.safetensors')).nlink).toBe(2);
  expect(await blobs.frees(join(target, MODEL))).toBe(bytes);
  expect(await blobs.has(sha('model.safetensors'), files['model.safetensors'].length)).toBe(true);
  expect(seen.map(({ move }) => move?.status.phase)).toEqual(
    expect.arrayContaining(['copying', 'switching', 'clearing']),
  );
});

test('and back again to the data folder, where links to files of others have stayed', async () => {
  const link = join(location.links(), 'other.gguf');
  mkdirSync(location.links(), { recursive: true });
  symlinkSync('/nowhere', link);
  addModel(db, { id: 'linked' as ModelId, name: 'Linked', path: link, metadata: null }, 2);
  const { begin, rest } = mover();
  await begin(target);
  await rest();
  expect(findModel(db, 'linked' as ModelId)?.path).toBe(link);
  expect(readdirSync(location.links())).toEqual(['other.gguf']);
  await begin(location.home);
  await rest();
  expect(location.folder()).toBe(location.home);
  expectWhole(location.home);
  expect(existsSync(target)).toBe(false);
});

test('on the same volume nothing is copied', async () => {
  const before = statSync(join(location.home, MODEL, 'model.safetensors')).ino;
  const { begin, rest, plan } = mover({ tuning: { mayLink: true, free: async () => 0 } });
  expect(await plan(target)).toMatchObject({ copies: false, missing: 0 });
  await begin(target);
  await rest();
  expectWhole(target);
  const after = statSync(join(target, MODEL, 'model.safetensors'));
  expect([after.ino, after.nlink]).toEqual([before, 2]);
});

test('where a file can have one name only the second copies are counted beforehand, and made', async () => {
  const bytes = Object.values(files).reduce((sum, file) => sum + file.length, 0);
  const hardLinks = async () => false;
  const { plan } = mover({ tuning: { hardLinks } });
  const planned = await plan(target);
  expect(planned.more).toBe(bytes);
  expect(planned.bytes).toBeGreaterThanOrEqual(2 * bytes);
  const room = { free: async () => planned.bytes - 1, hardLinks };
  expect(await mover({ tuning: room }).plan(target)).toMatchObject({ missing: 1 });
  await expect(mover({ tuning: room }).begin(target)).rejects.toMatchObject({ details: { missing: 1 } });

  const { begin, rest, seen } = mover({ tuning: { hardLinks, free: async () => planned.bytes } });
  await begin(target);
  await rest();
  expectWhole(target);
  expect(statSync(join(target, MODEL, 'model.safetensors')).nlink).toBe(1);
  expect(Math.max(...seen.map(({ move }) => move?.total ?? 0))).toBe(planned.bytes);
});

test('paused, it waits over a restart; then it goes on', async () => {
  const { pause, go, close, until } = await heldMove();
  pause();
  go();
  await until(({ move }) => move?.status.phase === 'paused');
  await close();
  const again = mover();
  expect(again.state().move?.status.phase).toBe('paused');
  expectWhole(location.home);
  again.resume();
  await again.rest();
  expectWhole(target);
});

test('cancelled, everything stays where it was and the copy goes', async () => {
  const { cancel, go, rest } = await heldMove();
  mkdirSync(join(target, MODEL), { recursive: true });
  writeFileSync(join(target, MODEL, '.longhand.json'), readFileSync(join(location.home, MODEL, '.longhand.json')));
  writeFileSync(join(target, MODEL, 'model.safetensors.moving'), 'half');
  go();
  await cancel();
  await rest();
  expect(location.folder()).toBe(location.home);
  expectWhole(location.home);
  expect(existsSync(target)).toBe(false);
});

test('a second move, and a move of a library that is away, are refused', async () => {
  const { begin, go, rest } = await heldMove();
  await expect(begin(join(newFolder(), 'other'))).rejects.toMatchObject({ code: 'conflict' });
  go();
  await rest();
  renameSync(target, `${target}-away`);
  await expect(begin(location.home)).rejects.toMatchObject({ code: 'not-found', details: { reason: 'unmounted' } });
  renameSync(`${target}-away`, target);
  expectWhole(target);
});

test('what is removed, and what is written, while files are copied is as it should be at the new place', async () => {
  const other = 'acme--other@0123456789ab';
  const about = { name: 'Other', source: 'mirror', repository: 'acme/other', commit: '0123456789ab', checkedAt: 1 };
  const path = await blobs.assemble(other, {
    ...about,
    files: [{ name: 'config.json', size: 900, sha256: sha('config.json'), etag: null }],
  });
  const lock = createRwLock();
  let first = true;
  const made = mover({
    lock: {
      ...lock,
      async alone(work, signal) {
        // The copy is complete; now the user removes one model and checks another.
        if (first) {
          first = false;
          await blobs.discard(path);
          const manifest = join(location.home, MODEL, '.longhand.json');
          writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"checkedAt":1', '"checkedAt":9'));
        }
        return lock.alone(work, signal);
      },
    },
  });
  await made.begin(target);
  await made.rest();
  expectWhole(target);
  expect(existsSync(join(target, other))).toBe(false);
  expect(readFileSync(join(target, MODEL, '.longhand.json'), 'utf8')).toContain('"checkedAt":9');
});

test('files that are removed while they are copied stop nothing, and are not at the new location in the end', async () => {
  const from = location.home;
  const copy = { signal: new AbortController().signal, mayLink: false };
  let first = true;
  await mirror(from, target, {
    ...copy,
    progress() {
      if (first) rmSync(join(from, MODEL), { recursive: true });
      first = false;
    },
  });
  await mirror(from, target, { ...copy, progress: () => {} });
  const names = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  expect(names(target)).toEqual(names(from));
});

test('files and folders of a copy are on the disk when it is done, whatever becomes of the power then', async () => {
  const file = await open(join(location.home, MODEL, 'model.safetensors'));
  const handle = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const kept = new Set<number>();
  const sync = vi.spyOn(handle, 'sync').mockImplementation(async function (this: FileHandle) {
    kept.add((await this.stat()).ino);
  });
  onTestFinished(() => sync.mockRestore());
  await mirror(location.home, target, { signal: new AbortController().signal, mayLink: false, progress() {} });
  const copied = ['', ...readdirSync(target, { recursive: true, encoding: 'utf8' })];
  expect(copied.filter((name) => !kept.has(statSync(join(target, name)).ino))).toEqual([]);
});

test('a move that waits for somebody else can be stopped', async () => {
  const lock = createRwLock();
  let end = () => {};
  const check = lock.shared(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const made = mover({ lock });
  await made.begin(target);
  await made.until(({ move }) => move !== null && move.total > 0 && move.done === move.total);
  await made.cancel();
  await made.rest();
  expectWhole(location.home);
  end();
  await check;
});

test('the old location is deleted only when nothing uses it any more', async () => {
  let used = true;
  const made = mover({
    async letGo() {
      while (used) await wait(5);
    },
  });
  await made.begin(target);
  await made.until(({ folder }) => folder === target);
  expect(existsSync(join(location.home, MODEL, 'model.safetensors'))).toBe(true);
  used = false;
  await made.rest();
  nothingLeft(location.home);
});
