import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Database } from '../../store/database/database.ts';
import { libraryRow, switchLibrary } from '../../store/models/library-location.ts';
import { createProbe, type Disk, disk as disks, type ProbeWithTimeout } from './fs-probe.ts';

/** The location of the library: in the data folder, or where it was moved to, possibly a removable drive. */
export type LibraryLocation = {
  /** In the data folder. */
  readonly home: string;
  folder(): string;
  /** Folder of links to files of other programs, always in the data folder: not every file system supports symbolic links. */
  links(): string;
  /** False while its drive is not mounted or hangs, as of the last check. */
  there(): boolean;
  /** Checks now. */
  look(): Promise<boolean>;
  /** Whether a path is in the library, so that the file is ours. */
  owns(path: string): boolean;
  /** Whether it is a link made by us. */
  ownsLink(path: string): boolean;
  /** Makes the copy in `to` the library. */
  switchTo(to: string): Promise<void>;
};

/** A marker file in the library: an empty mount point or another disk has none, or a different one. */
const MARK = '.longhand-library';

/** `reached`: called when a moved library is first seen, and whenever its drive is mounted again. */
export function createLibraryLocation(
  db: Database,
  home: string,
  disk: Disk = disks,
  probe: ProbeWithTimeout = createProbe(),
  reached: (folder: string) => void = () => {},
): LibraryLocation {
  let { folder, markerId } = libraryRow(db);
  let seen = false;
  const links = join(home, 'linked');
  const place: LibraryLocation = {
    home,
    folder: () => folder ?? home,
    links: () => links,
    there: () => folder === null || seen,
    async look() {
      const asked = folder;
      if (asked === null) return true;
      const path = join(asked, MARK);
      const found = await probe(path, () => disk.text(path), { slow: null, busy: () => (seen ? markerId : null) });
      // It may have been switched in the meantime.
      if (folder !== asked) return place.there();
      const before = seen;
      seen = found === markerId;
      if (seen && !before) reached(asked);
      return place.there();
    },
    owns: (path) => path.startsWith(place.folder() + sep) && !place.ownsLink(path),
    ownsLink: (path) => path.startsWith(links + sep),
    async switchTo(to) {
      const next = to === home ? { folder: null, markerId: null } : { folder: to, markerId: randomUUID() };
      if (next.markerId !== null) await writeFile(join(to, MARK), next.markerId, { flush: true });
      switchLibrary(db, { from: place.folder(), to, except: links, ...next });
      ({ folder, markerId } = next);
      seen = true;
    },
  };
  return place;
}

export const isMark = (name: string): boolean => name === MARK;
