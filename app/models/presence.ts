import { type Dirent, readdirSync, readlinkSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Place } from './place.ts';

/** `away`: not even its folder is there, as when a drive was taken out; it may be back at any moment. */
export type Presence = 'here' | 'missing' | 'away';

/** Whether files are there, for many of them at once: each folder is read once. */
export function createPresence(place: Pick<Place, 'owns' | 'there'>): (path: string) => Presence {
  const folders = new Map<string, Map<string, Dirent> | null>();
  let there: boolean | null = null;

  const namesOf = (folder: string): Map<string, Dirent> | null => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const names = read(folder);
    folders.set(folder, names);
    return names;
  };
  const presenceOf = (path: string, links = 0): Presence => {
    const names = namesOf(dirname(path));
    if (names === null) return 'away';
    const entry = names.get(basename(path));
    if (!entry) return 'missing';
    if (!entry.isSymbolicLink()) return 'here';
    return links < MOST_LINKS ? presenceOf(resolve(dirname(path), readlinkSync(path)), links + 1) : 'missing';
  };
  return (path) => {
    if (!place.owns(path)) return presenceOf(path);
    there ??= place.there();
    return there ? presenceOf(path) : 'away';
  };
}

const MOST_LINKS = 8;

function read(folder: string): Map<string, Dirent> | null {
  try {
    return new Map(readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, entry]));
  } catch {
    return null; // not there, or not readable: so are its files
  }
}

export type WatchOptions = {
  /** Files that may come and go. */
  paths: () => readonly string[];
  there: () => boolean;
  changed: () => void;
  /** Whether somebody waits for a drive that is there: it went and came back between two looks. */
  overlooked: () => boolean;
  everyMs?: number;
};

const LOOK_MS = 3000;

/** Looks now and then whether the drives of models are there. Without waiting for a disk that does not answer. */
export function watchDrives({ paths, there, changed, overlooked, everyMs = LOOK_MS }: WatchOptions) {
  let before: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let closed = false;

  async function look() {
    const folders = [...new Set(paths().map((path) => dirname(path)))];
    const seen = await Promise.all(folders.map((folder) => access(folder).then(yes, no)));
    const now = [there(), ...folders.filter((_, at) => seen[at])].join('\n');
    if (closed) return;
    if (before !== null && (before !== now || overlooked())) changed();
    before = now;
    timer = setTimeout(next, everyMs);
    timer.unref();
  }
  const next = () => {
    looking = look();
  };
  next();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

const yes = () => true;
const no = () => false;
