import { access, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { guarded } from '../../protocol/index.ts';
import { readRegular } from '../../store/folder/open-regular.ts';

//  Looking at disks that may not answer. A network drive without its server keeps whoever asks waiting for ever, and each wait
//  takes one of the few threads that Node has for files. So a look has a time limit, what still lasts is not asked again, and
//  only a few last at a time: the others go on with what they know.

/** As the engine reads of a config.json (native/formats/checkpoint.cc); marks of a library have one line. */
const MAX_TEXT = 4 * 1024 * 1024;

/** What is looked at. None of these rejects. */
export type Disk = {
  /** Null for a file that cannot be read. */
  text(path: string): Promise<string | null>;
  /** What is in a folder, by name: where a symbolic link leads, null for everything else. Null for no folder. */
  names(folder: string): Promise<Names | null>;
  kind(path: string): Promise<Kind>;
};
export type Kind = 'file' | 'folder' | null;
export type Names = ReadonlyMap<string, string | null>;

export const disk: Disk = {
  text: (path) =>
    readRegular(path, MAX_TEXT).then(
      (bytes) => bytes.toString(),
      () => null,
    ),
  async names(folder) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
    if (entries === null) return null; // not there, or not readable: so are its files
    const names = new Map<string, string | null>();
    for (const entry of entries)
      names.set(entry.name, entry.isSymbolicLink() ? await leadsTo(folder, entry.name) : null);
    return names;
  },
  kind: (path) =>
    stat(path).then(
      (found) => (found.isFile() ? 'file' : found.isDirectory() ? 'folder' : null),
      () => null,
    ),
};

const leadsTo = (folder: string, name: string) => readlink(join(folder, name)).catch(() => null);

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** One look. `slow`: what it counts as when it takes too long; `busy`: when too many others do. */
export type ProbeWithTimeout = <T>(
  what: string,
  look: () => Promise<T>,
  otherwise: { slow: T; busy: () => T },
) => Promise<T>;

/** Calls `over` when a look has taken too long. Returns what to do when it has an answer. */
export type TimeoutFactory = (what: string, over: () => void) => () => void;

const LIMIT_MS = 3000;
const defaultTimeout: TimeoutFactory = (_, over) => {
  const timer = setTimeout(guarded(console.error, over), LIMIT_MS);
  return () => clearTimeout(timer);
};
/** Of the four threads that Node has. */
const MOST = 2;

export function createProbe(startTimeout: TimeoutFactory = defaultTimeout): ProbeWithTimeout {
  const slow = new Set<string>();
  const waiting: (() => void)[] = [];
  let lasting = 0;

  const turn = () => new Promise<void>((resolve) => void waiting.push(resolve));
  const wakeAll = () => {
    for (const go of waiting.splice(0)) go();
  };

  return async (what, look, otherwise) => {
    if (slow.has(what)) return otherwise.slow;
    while (lasting >= MOST) {
      if (slow.size >= MOST) return otherwise.busy();
      await turn();
    }
    lasting++;
    let answered = () => {};
    const answer = look().finally(() => {
      answered();
      slow.delete(what);
      lasting--;
      waiting.shift()?.();
    });
    const late = new Promise<typeof otherwise.slow>((resolve) => {
      answered = startTimeout(what, () => {
        slow.add(what);
        wakeAll();
        resolve(otherwise.slow);
      });
    });
    return Promise.race([answer, late]);
  };
}
