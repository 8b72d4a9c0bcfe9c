import type { Database } from '../database/database.ts';
import { storedPath } from '../database/stored.ts';

//  The location of the library. This row is the state of a move: whenever a crash happens, one complete location is named here.

export type LibraryRow = {
  /** Null: in the data folder. */
  folder: string | null;
  /** Must match the content of the marker file in `folder`. */
  markerId: string | null;
  movingTo: string | null;
  paused: boolean;
  /** An unused copy that has to be deleted. */
  cleanupPath: string | null;
};

type Stored = Omit<LibraryRow, 'paused'> & { paused: number };

export function libraryRow(db: Database): LibraryRow {
  const row = db.get<Stored>(
    'SELECT folder, marker_id AS markerId, moving_to AS movingTo, paused, cleanup_path AS cleanupPath FROM library',
  );
  if (!row) throw new Error('[library] its row is gone');
  const { folder, movingTo, cleanupPath } = row;
  return {
    ...row,
    folder: storedPath(folder),
    movingTo: storedPath(movingTo),
    cleanupPath: storedPath(cleanupPath),
    paused: row.paused === 1,
  };
}

export const beginMove = (db: Database, to: string) => db.run('UPDATE library SET moving_to = ?, paused = 0', to);

export const pauseMove = (db: Database, paused: boolean) => db.run('UPDATE library SET paused = ?', paused ? 1 : 0);

/** From now on the copy has to be deleted. */
export const cancelMove = (db: Database) =>
  db.run('UPDATE library SET cleanup_path = moving_to, moving_to = NULL, paused = 0');

export const endCleanup = (db: Database) => db.run('UPDATE library SET cleanup_path = NULL');

/** The one step that makes the new place the library: at once, with the paths of all models in it. `except`: a folder below
 *  `from` that stays where it is. */
export function switchLibrary(
  db: Database,
  {
    from,
    to,
    except,
    folder,
    markerId,
  }: { from: string; to: string; except: string } & Pick<LibraryRow, 'folder' | 'markerId'>,
): void {
  db.transaction(() => {
    db.run(
      'UPDATE library SET folder = ?, marker_id = ?, moving_to = NULL, paused = 0, cleanup_path = ?',
      folder,
      markerId,
      from,
    );
    const inside = (folder: string): [string, string] => [`${folder}/`, `${folder}/`];
    db.run(
      `UPDATE models SET path = ? || substr(path, length(?) + 1)
       WHERE substr(path, 1, length(?)) = ? AND substr(path, 1, length(?)) <> ?`,
      to,
      from,
      ...inside(from),
      ...inside(except),
    );
  });
}
