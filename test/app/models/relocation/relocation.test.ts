import { fork } from 'node:child_process';
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
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { mirror } from '../../../../app/models/relocation/copy-tree.ts';
import { createRelocation, type RelocationOptions } from '../../../../app/models/relocation/relocation.ts';
import { type BlobStore, createBlobStore } from '../../../../app/models/storage/blob-store.ts';
import { createProbe } from '../../../../app/models/storage/fs-probe.ts';
import { createLibraryLocation, type LibraryLocation } from '../../../../app/models/storage/library-location.ts';
import { createRwLock } from '../../../../app/models/storage/rw-lock.ts';
import type { Library, ModelId } from '../../../../app/protocol/index.ts';
import { type Database, openDatabase } from '../../../../app/store/database.ts';
import { migrate, readMigrations } from '../../../../app/store/migrate.ts';
import { addModel, findModel } from '../../../../app/store/models.ts';
import { newFolder, places, root } from '../../../support/core.ts';
import { content } from '../../../support/hub.ts';
import { limitMs, soaking } from '../../../support/soak.ts';

//  The library goes to another folder or disk: whatever happens on the way, one place is complete and is the one that is used.

const MODEL = 'acme--tiny@0123456789ab';
const id = 'model' as ModelId;
const files = { 'config.json': content(900), 'model.safetensors': content(9_000_123, 7) };
const sha = (name: keyof typeof files) =>
  ({ 'config.json': 'c'.repeat(64), 'model.safetensors': 'a'.repeat(64) })[name];

let data: string;
let target: string;
let db: Database;
let place: LibraryLocation;
let shelf: BlobStore;

/** A library as a download leaves it: blobs with the hash of each, and a model of hard links. */
async function layOut(): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) {
    const whole = join(data, name);
    writeFileSync(whole, bytes);
    await shelf.accept(whole, sha(name as keyof typeof files), bytes.length, new Uint8Array(32), () => {});
  }
  const kept = Object.entries(files).map(([name, bytes]) => {
    return { name, size: bytes.length, sha256: sha(name as keyof typeof files), etag: null };
  });
  const about = { name: 'Tiny', source: 'mirror', repository: 'acme/tiny', commit: '0123456789ab', checkedAt: 1 };
  const path = await shelf.assemble(MODEL, { ...about, files: kept });
  addModel(db, { id, name: 'Tiny', path, facts: null }, 1);
}

beforeEach(async () => {
  data = newFolder();
  target = join(newFolder(), 'disk', 'models');
  db = open();
  place = createLibraryLocation(db, join(data, 'models'));
  shelf = createBlobStore(db, place);
  await layOut();
});

function open(): Database {
  const opened = openDatabase(join(data, 'longhand.db'));
  onTestFinished(() => opened.close());
  migrate(opened, readMigrations(places.migrations));
  return opened;
}

function mover(more: Partial<RelocationOptions> = {}) {
  const seen: Library[] = [];
  const made = createRelocation({
    db,
    place,
    gate: createRwLock(),
    changed: (state) => seen.push(state),
    rest: async () => {},
    wake: () => {},
    switched: () => {},
    letGo: async () => {},
    ...more,
    tuning: { mayLink: false, ...more.tuning },
  });
  onTestFinished(() => made.close());
  const until = (fits: (state: Library) => boolean) =>
    vi.waitFor(() => expect(fits(made.state()), JSON.stringify(made.state())).toBe(true), { timeout: 20_000 });
  return { ...made, seen, until, rest: () => until((state) => state.move === null) };
}

/** The model is whole where the database says it is. */
function expectWhole(at: string, from: Database = db): void {
  const path = findModel(from, id)?.path ?? '';
  expect(path).toBe(join(at, MODEL));
  for (const [name, bytes] of Object.entries(files)) {
    expect(readFileSync(join(path, name)).equals(bytes), name).toBe(true);
  }
}
const nothingLeft = (folder: string) => {
  expect(existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'linked') : []).toEqual([]);
};

test('copied, read again, switched, the old one deleted; hard links stay hard links', async () => {
  const { begin, rest, plan, seen } = mover();
  const bytes = Object.values(files).reduce((sum, file) => sum + file.length, 0);
  const planned = await plan(target);
  expect(planned).toMatchObject({ folder: target, copies: true, missing: 0 });
  expect(planned.bytes).toBeGreaterThanOrEqual(bytes);
  expect(planned.bytes).toBeLessThan(bytes + 2000);
  await begin(target);
  await rest();
  expect(place.folder()).toBe(target);
  expectWhole(target);
  nothingLeft(place.home);
  expect(statSync(join(target, MODEL, 'model.safetensors')).nlink).toBe(2);
  expect(await shelf.frees(join(target, MODEL))).toBe(bytes);
  expect(await shelf.has(sha('model.safetensors'), files['model.safetensors'].length)).toBe(true);
  expect(seen.map(({ move }) => move?.status.phase)).toEqual(
    expect.arrayContaining(['copying', 'switching', 'clearing']),
  );
});

test('and back again to the data folder, where links to files of others have stayed', async () => {
  const link = join(place.links(), 'other.gguf');
  mkdirSync(place.links(), { recursive: true });
  symlinkSync('/nowhere', link);
  addModel(db, { id: 'linked' as ModelId, name: 'Linked', path: link, facts: null }, 2);
  const { begin, rest } = mover();
  await begin(target);
  await rest();
  expect(findModel(db, 'linked' as ModelId)?.path).toBe(link);
  expect(readdirSync(place.links())).toEqual(['other.gguf']);
  await begin(place.home);
  await rest();
  expect(place.folder()).toBe(place.home);
  expectWhole(place.home);
  expect(existsSync(target)).toBe(false);
});

test('on the same volume nothing is copied', async () => {
  const before = statSync(join(place.home, MODEL, 'model.safetensors')).ino;
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

test('a plan leaves nothing behind, and asks a disk that does not answer no longer than a while', async () => {
  const { plan } = mover();
  const ground = join(target, '..');
  mkdirSync(ground);
  expect(await plan(target)).toMatchObject({ more: 0 });
  expect(readdirSync(ground)).toEqual([]);
  const silent = {
    free: () => new Promise<number>(() => {}),
    glance: createProbe((_, over) => {
      const timer = setTimeout(over, 50);
      return () => clearTimeout(timer);
    }),
  };
  const { begin, state, plan: ask } = mover({ tuning: silent });
  await expect(ask(target)).rejects.toMatchObject({ code: 'unreadable' });
  await expect(begin(target)).rejects.toMatchObject({ code: 'unreadable' });
  expect(state().move).toBe(null);
});

test('a folder that holds something gets one of ours in it; what is there stays', async () => {
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'thesis.txt'), 'mine');
  const { begin, rest } = mover();
  await begin(target);
  await rest();
  expectWhole(join(target, 'Longhand models'));
  await begin(place.home);
  await rest();
  expect(readdirSync(target)).toEqual(['thesis.txt']);
});

test.each([
  ['where it is', () => place.home, 'same'],
  ['inside the library', () => join(place.home, MODEL), 'inside'],
  ['inside it over a link', () => join(linkTo(place.home), 'new'), 'inside'],
  ['a file', () => join(data, 'longhand.db'), 'file'],
  ['no full path', () => 'models', 'relative'],
  ['a link to nothing', () => linkTo('/nowhere/at/all'), 'link'],
])('%s is no place for it, and nothing is changed', async (_name, given, reason) => {
  const { begin, plan, state } = mover();
  const path = given();
  await expect(plan(path)).rejects.toMatchObject({ code: 'bad-request', details: { reason } });
  await expect(begin(path)).rejects.toMatchObject({ code: 'bad-request' });
  expect(state().move).toBe(null);
  expectWhole(place.home);
});

function linkTo(path: string): string {
  const link = join(newFolder(), 'link');
  symlinkSync(path, link);
  return link;
}

test('a place where nothing can be made is refused', async () => {
  const { begin, state } = mover();
  await expect(begin('/proc/longhand/models')).rejects.toMatchObject({
    code: expect.stringMatching(/permission|unreadable/),
  });
  expect(state().move).toBe(null);
});

test('too little room is said before anything is copied, with the bytes that are missing', async () => {
  const { begin, plan, state } = mover({ tuning: { free: async () => 1_000_000 } });
  const { missing, bytes } = await plan(target);
  expect(missing).toBe(bytes - 1_000_000);
  await expect(begin(target)).rejects.toMatchObject({ code: 'disk-full', details: { missing } });
  expect(state().move).toBe(null);
  expect(existsSync(target)).toBe(false);
});

/** Holds a move at the moment when its first file is copied. */
async function heldMove(more: Partial<RelocationOptions> = {}) {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const made = mover({ ...more, rest: () => held });
  await made.begin(target);
  return { ...made, go };
}

test('paused, it waits over a restart; then it goes on', async () => {
  const { pause, go, close, until } = await heldMove();
  pause();
  go();
  await until(({ move }) => move?.status.phase === 'paused');
  await close();
  const again = mover();
  expect(again.state().move?.status.phase).toBe('paused');
  expectWhole(place.home);
  again.resume();
  await again.rest();
  expectWhole(target);
});

test('cancelled, everything stays where it was and the copy goes', async () => {
  const { cancel, go, rest } = await heldMove();
  mkdirSync(join(target, MODEL), { recursive: true });
  writeFileSync(join(target, MODEL, '.longhand.json'), readFileSync(join(place.home, MODEL, '.longhand.json')));
  writeFileSync(join(target, MODEL, 'model.safetensors.moving'), 'half');
  go();
  await cancel();
  await rest();
  expect(place.folder()).toBe(place.home);
  expectWhole(place.home);
  expect(existsSync(target)).toBe(false);
});

test('a second move, and a move of a library that is away, are refused', async () => {
  const { begin, go, rest } = await heldMove();
  await expect(begin(join(newFolder(), 'other'))).rejects.toMatchObject({ code: 'conflict' });
  go();
  await rest();
  renameSync(target, `${target}-away`);
  await expect(begin(place.home)).rejects.toMatchObject({ code: 'not-found', details: { reason: 'away' } });
  renameSync(`${target}-away`, target);
  expectWhole(target);
});

test('what is removed, and what is written, while files are copied is as it should be at the new place', async () => {
  const other = 'acme--other@0123456789ab';
  const about = { name: 'Other', source: 'mirror', repository: 'acme/other', commit: '0123456789ab', checkedAt: 1 };
  const path = await shelf.assemble(other, {
    ...about,
    files: [{ name: 'config.json', size: 900, sha256: sha('config.json'), etag: null }],
  });
  const gate = createRwLock();
  let first = true;
  const made = mover({
    gate: {
      ...gate,
      async alone(work, signal) {
        // The copy is complete; now the user removes one model and checks another.
        if (first) {
          first = false;
          await shelf.discard(path);
          const manifest = join(place.home, MODEL, '.longhand.json');
          writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"checkedAt":1', '"checkedAt":9'));
        }
        return gate.alone(work, signal);
      },
    },
  });
  await made.begin(target);
  await made.rest();
  expectWhole(target);
  expect(existsSync(join(target, other))).toBe(false);
  expect(readFileSync(join(target, MODEL, '.longhand.json'), 'utf8')).toContain('"checkedAt":9');
});

test('files that are removed while they are copied stop nothing, and are not at the new place in the end', async () => {
  const from = place.home;
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

test('a move that waits for somebody else can be stopped', async () => {
  const gate = createRwLock();
  let end = () => {};
  const check = gate.shared(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const made = mover({ gate });
  await made.begin(target);
  await made.until(({ move }) => move !== null && move.total > 0 && move.done === move.total);
  await made.cancel();
  await made.rest();
  expectWhole(place.home);
  end();
  await check;
});

test('the old place is deleted only when nothing uses it any more', async () => {
  let used = true;
  const made = mover({
    async letGo() {
      while (used) await wait(5);
    },
  });
  await made.begin(target);
  await made.until(({ folder }) => folder === target);
  expect(existsSync(join(place.home, MODEL, 'model.safetensors'))).toBe(true);
  used = false;
  await made.rest();
  nothingLeft(place.home);
});

test('a full disk in the middle stops it with a sentence, and it goes on when there is room', async () => {
  mkdirSync(join(target, '..'), { recursive: true });
  const made = mover({
    rest: vi
      .fn<() => Promise<void>>()
      .mockRejectedValueOnce(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
      .mockResolvedValue(undefined),
  });
  await made.begin(target);
  await made.until(({ move }) => move?.status.phase === 'stopped');
  expect(made.state().move?.status).toMatchObject({ failure: { code: 'disk-full' } });
  expectWhole(place.home);
  made.resume();
  await made.rest();
  expectWhole(target);
});

test('the old drive goes away after the switch: what is on it is deleted when it is back, or left by choice', async () => {
  const { begin, rest } = mover();
  await begin(target);
  await rest();
  const elsewhere = join(newFolder(), 'elsewhere');
  const away = `${target}-away`;
  const made = mover({
    async letGo() {
      renameSync(target, away);
    },
  });
  await made.begin(elsewhere);
  await made.until(({ move }) => move?.status.phase === 'clearingLater');
  expectWhole(elsewhere);
  await made.cancel();
  await made.rest();
  renameSync(away, target);
  expect(existsSync(join(target, MODEL))).toBe(true);
  rmSync(target, { recursive: true });
});

const kills = soaking ? 200 : 6;

test(
  `killed ${kills} times at random moments: the old place or the new one is complete, and in the end the new one`,
  async () => {
    db.close();
    let from = data;
    let done = 0;
    let finished = 0;
    while (done < kills) {
      for (let whole = false; !whole; ) {
        whole = await runFor(done < kills ? 60 + Math.random() * 160 : 60_000, from, target);
        if (!whole) done++;
        const now = openDatabase(join(from, 'longhand.db'));
        const { folder } = createLibraryLocation(now, join(from, 'models'));
        expectWhole(folder(), now);
        now.close();
      }
      finished++;
      expectOnly(target, join(from, 'models'));
      from = data = newFolder();
      target = join(newFolder(), 'disk', 'models');
      db = open();
      place = createLibraryLocation(db, join(data, 'models'));
      shelf = createBlobStore(db, place);
      await layOut();
      db.close();
    }
    expect(finished).toBeGreaterThan(0);
  },
  limitMs(900_000, 4),
);

function expectOnly(folder: string, old: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(names.filter((name) => name.endsWith('.moving'))).toEqual([]);
  nothingLeft(old);
}

/** Runs the moving process for a while. True when it came to the end by itself. */
async function runFor(ms: number, folder: string, to: string): Promise<boolean> {
  const child = fork(join(root, 'test/support/move-process.ts'), [folder, to, places.migrations], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const moved = new Promise<boolean>((resolve) => {
    child.on('message', (message) => message === 'moved' && resolve(true));
    child.once('exit', () => resolve(false));
  });
  const started = new Promise<void>((resolve) => {
    child.on('message', () => resolve());
    child.once('exit', () => resolve());
  });
  await started;
  const whole = await Promise.race([moved, wait(ms).then(() => false)]);
  child.kill('SIGKILL');
  await ended;
  return whole;
}
