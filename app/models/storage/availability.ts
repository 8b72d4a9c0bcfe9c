import { resolve, sep } from 'node:path';
import { guarded, type Report } from '../../protocol/index.ts';
import { createProbe, type Disk, disk as disks, type Names, type ProbeWithTimeout } from './fs-probe.ts';
import type { LibraryLocation } from './library-location.ts';

/** `away`: not even its folder is there, as when a drive was taken out; it may be back at any moment. */
export type FileState = 'here' | 'missing' | 'unmounted';

/** Whether files are there. */
export type Availability = {
  /** As it was when it was last looked at; what nobody has looked at counts as there. Never waits for a disk. */
  of(path: string): FileState;
  /** Looks at many at once: each folder is read once. */
  look(paths: readonly string[]): Promise<void>;
  /** How often a folder went or came back. */
  turns(): number;
};

const MAX_LINKS = 8;

export function createAvailability(
  location: Pick<LibraryLocation, 'owns' | 'there' | 'look'>,
  disk: Disk = disks,
  probe: ProbeWithTimeout = createProbe(),
): Availability {
  const folders = new Map<string, Names | null>();
  let turns = 0;

  function stateOf(path: string, links = 0): FileState {
    const [folder, name] = parted(path);
    const names = folders.get(folder);
    if (names === undefined) return 'here';
    if (names === null) return 'unmounted';
    const target = names.get(name);
    if (target === null) return 'here';
    if (target === undefined || links === MAX_LINKS) return 'missing';
    return stateOf(resolve(folder, target), links + 1);
  }

  /** Reads a folder. Returns where those of its names lead that are links. */
  async function read(folder: string, wanted: readonly string[]): Promise<string[]> {
    const names = await probe<Names | null | undefined>(folder, () => disk.names(folder), {
      slow: null,
      busy: () => folders.get(folder),
    });
    if (names !== undefined) {
      if ((folders.get(folder) === null) !== (names === null)) turns++;
      folders.set(folder, names);
    }
    const onward: string[] = [];
    for (const name of wanted) {
      const target = names?.get(name);
      if (target) onward.push(resolve(folder, target));
    }
    return onward;
  }

  return {
    of: (path) => (location.owns(path) && !location.there() ? 'unmounted' : stateOf(path)),
    async look(paths) {
      const there = await location.look();
      let next = there ? paths : paths.filter((path) => !location.owns(path));
      for (let links = 0; links <= MAX_LINKS && next.length > 0; links++) {
        const wanted = byFolder(next);
        next = (await Promise.all([...wanted].map(([folder, names]) => read(folder, names)))).flat();
      }
    },
    turns: () => turns,
  };
}

/** `path.dirname` and `path.basename` of full paths, for thousands of them. */
function parted(path: string): [folder: string, name: string] {
  const end = sep === '/' ? path.lastIndexOf(sep) : Math.max(path.lastIndexOf(sep), path.lastIndexOf('/'));
  return [path.slice(0, end) || path.slice(0, end + 1), path.slice(end + 1)];
}

function byFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const [folder, name] = parted(path);
    const names = folders.get(folder);
    if (names) names.push(name);
    else folders.set(folder, [name]);
  }
  return folders;
}

export type WatchOptions = {
  /** Files that may come and go. */
  paths: () => readonly string[];
  availability: Availability;
  there: () => boolean;
  changed: () => void;
  /** Whether somebody waits for a drive that is there: it went and came back between two looks. */
  overlooked: () => Promise<boolean>;
  report?: Report;
  everyMs?: number;
};

const LOOK_MS = 3000;

/** Looks now and then whether the drives of models are there. */
export function watchDrives({
  paths,
  availability,
  there,
  changed,
  overlooked,
  report = console.error,
  everyMs = LOOK_MS,
}: WatchOptions) {
  // Somebody else's look may have found a drive gone, and told so, that is back now: hence the turns.
  const away = () => paths().filter((path) => availability.of(path) === 'unmounted');
  const state = () => JSON.stringify([there(), availability.turns(), ...away()]);
  let before = state();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let closed = false;

  async function look() {
    await availability.look(paths());
    const waits = await overlooked();
    const now = state();
    if (closed) return;
    if (before !== now || waits) changed();
    before = now;
  }
  const next = () => {
    // One look that failed says nothing about the next.
    looking = look()
      .catch(report)
      .finally(() => {
        if (!closed) timer = setTimeout(guarded(report, next), everyMs).unref();
      });
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
