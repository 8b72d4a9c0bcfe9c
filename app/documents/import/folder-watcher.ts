import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type CollectionId,
  type Document,
  type DocumentId,
  type FolderProblem,
  failureOf,
  guarded,
  type Report,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { listWatched, type WatchedFolder, watchFolder } from '../../store/documents/collections.ts';
import {
  addDocument,
  deleteDocument,
  findDocument,
  listFollowed,
  type StoredDocument,
  updateDocument,
} from '../../store/documents/documents.ts';
import { type Gathered, gatherFolder } from './collect-files.ts';
import type { FileStore } from './file-store.ts';

//  Watched folders. Events of the system are only hints: each scan compares the folder with the documents
//  that came from it, so changes made while the app was closed are found too.

export type Watcher = {
  /** Watches exactly the folders in the database, and scans each of them. */
  follow(): Promise<void>;
  /** Scans one now. */
  look(folder: Pick<WatchedFolder, 'collectionId' | 'path'>): Promise<void>;
  close(): void;
};

export type WatcherOptions = {
  db: Database;
  copies: FileStore;
  changed(document: Document): void;
  removed(id: DocumentId): void;
  /** Documents were queued. */
  wake(): void;
  interrupt(id: DocumentId): void;
  /** The problem of a folder changed. */
  told(): void;
  now: () => number;
  report?: Report;
};

/** Documents fetched per query, which takes about five milliseconds. */
const LISTED_AT_ONCE = 1000;
const SETTLE_MS = 700;
/** Interval of checking that the folder exists and is the same. */
const PRESENT_MS = 2000;
/** Rescan interval: network file systems send no events. */
const AGAIN_MS = 5 * 60 * 1000;

export function createWatcher(options: WatcherOptions): Watcher {
  const { db, copies, changed, removed, wake, interrupt, told, now, report = console.error } = options;
  const watchers = new Map<string, { lost(): void; stop(): void }>();
  const looking = new Map<string, Promise<void>>();
  /** Files with duplicate content, with their state when that was found. */
  const doubles = new Map<string, string>();
  let closed = false;

  const keyOf = ({ collectionId, path }: { collectionId: CollectionId; path: string }) => `${collectionId}\n${path}`;
  const stamp = (file: Gathered) => `${file.bytes} ${file.changedAt}`;

  function setProblem(folder: WatchedFolder, problem: FolderProblem | null) {
    if (JSON.stringify(folder.problem) === JSON.stringify(problem)) return;
    folder.problem = problem;
    if (listWatched(db).some((one) => keyOf(one) === keyOf(folder))) watchFolder(db, folder);
    told();
  }

  function start(folder: WatchedFolder) {
    let timer: NodeJS.Timeout | null = null;
    let system: FSWatcher | null = null;
    /** Identity of the watched folder; another one may take its name. */
    let identity = '';
    const soon = () => {
      if (timer) clearTimeout(timer);
      timer = setTimeout(
        guarded(report, () => look(folder)),
        SETTLE_MS,
      );
    };
    const forget = () => {
      system?.close();
      system = null;
      identity = '';
      soon();
    };
    const listen = (found: string) => {
      system?.close();
      system = null;
      identity = found;
      if (found === '') return;
      try {
        system = watch(folder.path, { recursive: true }, soon);
        system.on('error', guarded(report, forget));
      } catch {
        identity = ''; // gone again; the next scan will tell
      }
    };
    // A rename of the folder itself sends no event, and the watcher follows it. A drive may hang: only one check at a time.
    let asking = false;
    let stopped = false;
    const check = async () => {
      if (asking) return;
      asking = true;
      const found = await identityOf(folder.path).finally(() => {
        asking = false;
      });
      if (stopped || found === identity) return;
      listen(found);
      soon();
    };
    guarded(report, check)();
    const present = setInterval(guarded(report, check), PRESENT_MS).unref();
    const again = setInterval(
      guarded(report, () => look(folder)),
      AGAIN_MS,
    ).unref();
    watchers.set(keyOf(folder), {
      // It may be back before the next check, but the watcher is gone.
      lost: () => listen(''),
      stop() {
        stopped = true;
        if (timer) clearTimeout(timer);
        clearInterval(present);
        clearInterval(again);
        system?.close();
      },
    });
  }

  /** One scan at a time; a request in the meantime queues another one. */
  function look(folder: Pick<WatchedFolder, 'collectionId' | 'path'>): Promise<void> {
    const key = keyOf(folder);
    const work = (looking.get(key) ?? Promise.resolve()).then(() => lookOnce(folder)).catch(() => {});
    looking.set(key, work);
    return work;
  }

  async function lookOnce({ collectionId, path }: Pick<WatchedFolder, 'collectionId' | 'path'>) {
    const folder = listWatched(db).find((one) => one.collectionId === collectionId && one.path === path);
    if (closed || !folder) return;
    let files: Gathered[];
    try {
      const gathered = await gatherFolder(path);
      files = gathered.files;
      setProblem(folder, aboutLinks(gathered.links));
    } catch (error) {
      watchers.get(keyOf(folder))?.lost();
      // An unmounted disk is no reason to remove its documents.
      setProblem(folder, { kind: 'failed', code: failureOf(error).code });
      return;
    }
    if (closed) return;
    await compare(collectionId, path, files);
    wake();
  }

  async function compare(collectionId: CollectionId, path: string, files: readonly Gathered[]) {
    const below = path.endsWith(sep) ? path : path + sep;
    const followed = (await allFollowed(collectionId)).filter(({ sourcePath }) => sourcePath.startsWith(below));
    const present = new Set(files.map((file) => file.path));
    const known = new Map(followed.map((one) => [one.sourcePath, one]));
    const gone = followed.filter((one) => !present.has(one.sourcePath) && !one.removed);
    // A duplicate may now replace a file that is gone.
    if (gone.length > 0) doubles.clear();
    for (const file of files) {
      const stored = known.get(file.path);
      // A folder may have twenty thousand files: yield after each one stored.
      if (stored?.sourceChangedAt === file.changedAt && stored.document.bytes === file.bytes) continue;
      await turn();
      if (closed) return;
      if (stored) readAnew(stored, file);
      else if (doubles.get(file.path) !== stamp(file)) {
        await addOrMove(collectionId, file, gone);
      }
    }
    for (const { document } of gone) {
      await turn();
      if (closed) return;
      if (!isThere(document.id)) continue;
      interrupt(document.id);
      // No longer watched: if the file comes back it is added again.
      updateDocument(db, document.id, { watched: false });
      deleteDocument(db, document.id, now());
      removed(document.id);
    }
  }

  const isThere = (id: DocumentId) => findDocument(db, id) !== undefined;

  async function allFollowed(collectionId: CollectionId) {
    const followed: ReturnType<typeof listFollowed> = [];
    for (let after = 0; ; await turn()) {
      const page = listFollowed(db, collectionId, { after, limit: LISTED_AT_ONCE });
      followed.push(...page);
      if (page.length < LISTED_AT_ONCE) return followed;
      after = page.at(-1)?.number ?? after;
    }
  }

  function readAnew(stored: StoredDocument & { removed: boolean }, file: Gathered) {
    if (stored.removed || !isThere(stored.document.id)) return;
    interrupt(stored.document.id);
    const patch = { storedName: null, sha256: null, bytes: file.bytes, sourceChangedAt: file.changedAt };
    changed(updateDocument(db, stored.document.id, { ...patch, state: { status: 'queued' } }).document);
  }

  /** A file with the content of one that is gone was renamed. Removes it from `gone` then. */
  async function addOrMove(collectionId: CollectionId, file: Gathered, gone: StoredDocument[]) {
    const candidates = gone.filter(({ document, sha256 }) => document.bytes === file.bytes && sha256 !== null);
    const hash = candidates.length > 0 ? await copies.hash(file.path) : null;
    const moved = candidates.find(({ sha256, document }) => sha256 === hash && isThere(document.id));
    if (moved) {
      gone.splice(gone.indexOf(moved), 1);
      const titled = moved.document.name !== moved.document.fileName;
      const patch = { sourcePath: file.path, fileName: file.fileName, sourceChangedAt: file.changedAt };
      changed(updateDocument(db, moved.document.id, { ...patch, ...(!titled && { name: file.fileName }) }).document);
      return;
    }
    doubles.set(file.path, stamp(file));
    const { fileName, kind, bytes, changedAt } = file;
    const added = {
      collectionId,
      fileName,
      kind,
      bytes,
      sourcePath: file.path,
      sourceChangedAt: changedAt,
      watched: true,
    };
    // Not fsynced: after a power failure the next scan finds it again.
    changed(db.passing(() => addDocument(db, added, now()).document));
  }

  return {
    async follow() {
      const folders = listWatched(db);
      const wanted = new Set(folders.map(keyOf));
      for (const [key, watcher] of watchers) {
        if (wanted.has(key)) continue;
        watcher.stop();
        watchers.delete(key);
      }
      for (const folder of folders) if (!watchers.has(keyOf(folder))) start(folder);
      await Promise.all(folders.map(look));
    },
    look,
    close() {
      closed = true;
      for (const watcher of watchers.values()) watcher.stop();
      watchers.clear();
    },
  };
}

/** Empty if it does not exist. */
async function identityOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found?.isDirectory() ? `${found.dev} ${found.ino}` : '';
}

function aboutLinks(links: readonly string[]): FolderProblem | null {
  const [first] = links;
  return first === undefined ? null : { kind: 'links', count: links.length, first };
}
