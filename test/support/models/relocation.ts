import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { createRelocation, type RelocationOptions } from '../../../app/models/relocation/relocation.ts';
import { type BlobStore, createBlobStore } from '../../../app/models/storage/blob-store.ts';
import { createLibraryLocation, type LibraryLocation } from '../../../app/models/storage/library-location.ts';
import { createRwLock } from '../../../app/models/storage/rw-lock.ts';
import type { Library, ModelId } from '../../../app/protocol/index.ts';
import { type Database, openDatabase } from '../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../app/store/database/migrate.ts';
import { addModel, findModel } from '../../../app/store/models/models.ts';
import { newFolder, places } from '../core/core.ts';
import { content } from '../fakes/hub.ts';

export const MODEL = 'acme--tiny@0123456789ab';
export const id = 'model' as ModelId;
export const files = { 'config.json': content(900), 'model.safetensors': content(9_000_123, 7) };
export const sha = (name: keyof typeof files) =>
  ({ 'config.json': 'c'.repeat(64), 'model.safetensors': 'a'.repeat(64) })[name];

export let data: string;
export let target: string;
export let db: Database;
export let location: LibraryLocation;
export let blobs: BlobStore;

/** A library as a download leaves it: blobs named by their hash, and a model of hard links to them. */
export async function layOut(): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) {
    const whole = join(data, name);
    writeFileSync(whole, bytes);
    await blobs.accept(whole, sha(name as keyof typeof files), bytes.length, new Uint8Array(32), () => {});
  }
  const kept = Object.entries(files).map(([name, bytes]) => {
    return { name, size: bytes.length, sha256: sha(name as keyof typeof files), etag: null };
  });
  const about = { name: 'Tiny', source: 'mirror', repository: 'acme/tiny', commit: '0123456789ab', checkedAt: 1 };
  const path = await blobs.assemble(MODEL, { ...about, files: kept });
  addModel(db, { id, name: 'Tiny', path, metadata: null }, 1);
}

/** A new library in a new data folder; earlier tests leave theirs behind. */
export async function newLibrary(): Promise<void> {
  data = newFolder();
  target = join(newFolder(), 'disk', 'models');
  db = open();
  location = createLibraryLocation(db, join(data, 'models'));
  blobs = createBlobStore(db, location);
  await layOut();
}

export function open(): Database {
  const opened = openDatabase(join(data, 'longhand.db'));
  onTestFinished(() => opened.close());
  migrate(opened, readMigrations(places.migrations));
  return opened;
}

export function mover(more: Partial<RelocationOptions> = {}) {
  const seen: Library[] = [];
  const made = createRelocation({
    db,
    location,
    lock: createRwLock(),
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

/** Asserts that the model is complete where the database says it is. */
export function expectWhole(at: string, from: Database = db): void {
  const path = findModel(from, id)?.path ?? '';
  expect(path).toBe(join(at, MODEL));
  for (const [name, bytes] of Object.entries(files)) {
    expect(readFileSync(join(path, name)).equals(bytes), name).toBe(true);
  }
}
export const nothingLeft = (folder: string) => {
  expect(existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'linked') : []).toEqual([]);
};

/** Pauses a move when its first file is copied. */
export async function heldMove(more: Partial<RelocationOptions> = {}) {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const made = mover({ ...more, rest: () => held });
  await made.begin(target);
  return { ...made, go };
}
