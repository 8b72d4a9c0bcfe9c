import { access, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { guarded } from '../../protocol/index.ts';
import { readRegular } from '../../store/folder/open-regular.ts';

//  Access to disks that may hang. A network drive without its server blocks callers for ever, and each blocked call
//  occupies one of Node's few file threads. So each probe has a timeout, a pending probe is not repeated, and
//  only a few may be pending: others use the last known state.

/** The engine's limit for config.json (native/formats/checkpoint.cc); library markers have one line. */
const MAX_TEXT = 4 * 1024 * 1024;

/** Probes. None of these rejects. */
export type Disk = {
  /** Null if unreadable. */
  text(path: string): Promise<string | null>;
  /** Names in a folder, with the target of symbolic links and null for everything else. Null if there is no such folder. */
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
    if (entries === null) return null; // missing or unreadable, and so are its files
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

/** One probe. `slow`: result on timeout; `busy`: result if too many probes are pending. */
export type ProbeWithTimeout = <T>(
  what: string,
  look: () => Promise<T>,
  otherwise: { slow: T; busy: () => T },
) => Promise<T>;

/** Calls `over` on timeout. Returns a function to call when the probe is done. */
export type TimeoutFactory = (what: string, over: () => void) => () => void;

const LIMIT_MS = 3000;
const defaultTimeout: TimeoutFactory = (_, over) => {
  const timer = setTimeout(guarded(console.error, over), LIMIT_MS);
  return () => clearTimeout(timer);
};
/** Maximum pending probes, of Node's four threads. */
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
