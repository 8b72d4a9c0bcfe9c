import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Database } from '../store/database.ts';
import { libraryRow, switchLibrary } from '../store/library.ts';

/** Where the library is: in the data folder, or where it was moved to, which may be a drive that comes and goes. */
export type Place = {
  /** In the data folder. */
  readonly home: string;
  folder(): string;
  /** Links to files of other programs stay in the data folder: not every disk knows such links. */
  links(): string;
  /** False while its drive is away. */
  there(): boolean;
  /** Whether a path is in the library, and so the file our own. */
  owns(path: string): boolean;
  /** Whether it is a link that we made. */
  ownsLink(path: string): boolean;
  /** Makes a copy of the library, which stands in `to`, the library. */
  switchTo(to: string): Promise<void>;
};

/** A file in the folder of the library: an empty mount point, or another disk, has none or another. */
const MARK = '.longhand-library';

export function createPlace(db: Database, home: string): Place {
  let { folder, mark } = libraryRow(db);
  const links = join(home, 'linked');
  const place: Place = {
    home,
    folder: () => folder ?? home,
    links: () => links,
    there: () => folder === null || markIn(folder) === mark,
    owns: (path) => path.startsWith(place.folder() + sep) && !place.ownsLink(path),
    ownsLink: (path) => path.startsWith(links + sep),
    async switchTo(to) {
      const next = to === home ? { folder: null, mark: null } : { folder: to, mark: randomUUID() };
      if (next.mark !== null) await writeFile(join(to, MARK), next.mark, { flush: true });
      switchLibrary(db, { from: place.folder(), to, kept: links, ...next });
      ({ folder, mark } = next);
    },
  };
  return place;
}

function markIn(folder: string): string | null {
  try {
    return readFileSync(join(folder, MARK), 'utf8');
  } catch {
    return null; // not there: its drive is away
  }
}

export const isMark = (name: string): boolean => name === MARK;
