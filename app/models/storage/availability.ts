import { resolve, sep } from 'node:path';
import { guarded, type Report } from '../../protocol/index.ts';
import { createProbe, type Disk, disk as disks, type Names, type ProbeWithTimeout } from './fs-probe.ts';
import type { LibraryLocation } from './library-location.ts';

/** `unmounted`: not even the folder exists, as when a drive was removed; it may return at any moment. */
export type FileState = 'here' | 'missing' | 'unmounted';

/** Tracks whether files exist. */
export type Availability = {
  /** The result of the last check; unchecked paths are assumed available. Never waits for a disk. */
  of(path: string): FileState;
  /** Checks many paths at once, listing each folder once. */
  look(paths: readonly string[]): Promise<void>;
  /** Counts how often a folder disappeared or returned. */
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

  /** Lists a folder. Returns the targets of names that are links. */
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
  /** Paths to watch. */
  paths: () => readonly string[];
  availability: Availability;
  there: () => boolean;
  changed: () => void;
  /** Whether something waits for a drive that is mounted: it went and came back between two checks. */
  overlooked: () => Promise<boolean>;
  report?: Report;
  everyMs?: number;
};

const LOOK_MS = 3000;

/** Checks periodically whether the drives of models are mounted. */
export function watchDrives({
  paths,
  availability,
  there,
  changed,
  overlooked,
  report = console.error,
  everyMs = LOOK_MS,
}: WatchOptions) {
  // Another check may have seen and reported a drive as gone that is back now: hence the counter.
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
    // A failed check does not affect the next.
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
