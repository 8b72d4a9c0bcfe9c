import type { CollectionId, Document, DocumentId, DocumentState } from '../../protocol/index.ts';
import { failureOf, guarded, LonghandError } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { addContent, removeContent } from '../../store/documents/chunks.ts';
import { listWatched } from '../../store/documents/collections.ts';
import {
  findByContent,
  findDocument,
  forgetDocument,
  forgiveAttempt,
  forgiveAttempts,
  nextQueued,
  requeueUnsettled,
  type StoredDocument,
  updateDocument,
} from '../../store/documents/documents.ts';
import type { ParserClient } from '../parse/parser-client.ts';
import { titleOr } from '../parse/title.ts';
import { type FileStore, isBelow } from './file-store.ts';

//  The import queue is the documents table: queued rows are parsed one by one, oldest first.
//
//    queued ──copied, not here yet──▶ reading ──▶ ready
//      │ └──duplicate content──▶ removed                   any step may fail ──▶ failed ──retry──▶ queued
//
//  A slow document yields to others that wait and is restarted when they are done, with twice the time
//  limit.
//
//  A document that was being parsed when Longhand crashed is retried once; after a second crash it counts as failed and waits for the user.

export type Importer = {
  /** Copies a queued document's file. Returns the document, or the one in the collection with the same content. */
  take(id: DocumentId): Promise<Document>;
  /** Starts parsing the queue. */
  wake(): void;
  /** Password for the next attempt at an encrypted document; never stored. */
  givePassword(id: DocumentId, password: string): void;
  /** Stops parsing a document that was removed or changed, or the documents of a removed collection. */
  interrupt(id: DocumentId | CollectionId): void;
  /** Resolves when the queue is empty. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

export type ImporterOptions = {
  db: Database;
  copies: FileStore;
  parser: ParserClient;
  changed(document: Document): void;
  removed(id: DocumentId): void;
  now: () => number;
  /** Time limit per document while others wait. */
  turnMs?: number;
};

/** Nearly all documents take less; a scanned book takes minutes. */
const TURN_MS = 60_000;
const PROGRESS_MS = 200;
const MAX_ATTEMPTS = 2;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

export function createImporter(options: ImporterOptions): Importer {
  const { db, copies, parser, changed, removed, now, turnMs = TURN_MS } = options;
  const taking = new Map<DocumentId, Promise<Document>>();
  /** Duplicates, and the documents they duplicate. */
  const twins = new Map<DocumentId, DocumentId>();
  const passwords = new Map<DocumentId, string>();
  /** Next time limit of documents that have yielded. */
  const turns = new Map<DocumentId, number>();
  let current: { id: DocumentId; collectionId: CollectionId; abort: AbortController } | null = null;
  let loop: Promise<void> | null = null;
  let closed = false;
  let again: NodeJS.Timeout | null = null;
  let pauseMs = FIRST_PAUSE_MS;

  const update = (id: DocumentId, patch: Parameters<typeof updateDocument>[2]): StoredDocument => {
    const stored = updateDocument(db, id, patch);
    changed(stored.document);
    return stored;
  };

  function take(id: DocumentId): Promise<Document> {
    const twin = twins.get(id);
    if (twin) return take(twin);
    const known = taking.get(id);
    if (known) return known;
    const work = takeOnce(id).finally(() => taking.delete(id));
    taking.set(id, work);
    return work;
  }

  async function takeOnce(id: DocumentId): Promise<Document> {
    const stored = findDocument(db, id);
    if (!stored) throw new LonghandError('not-found', `[documents] no document ${id}`);
    if (stored.storedName !== null) return stored.document;
    try {
      const copy = await copies.take(stored.sourcePath, stored.document.fileName, watchedFolderOf(stored));
      if (!findDocument(db, id)) throw new LonghandError('cancelled', `[documents] ${id} was removed`);
      const same = findByContent(db, stored.document.collectionId, copy.sha256);
      if (same && same.document.id !== id) {
        forgetDocument(db, stored.number);
        twins.set(id, same.document.id);
        removed(id);
        // A document that was added by hand is watched from now on.
        if (!stored.watched || same.watched) return same.document;
        return update(same.document.id, { watched: true, sourcePath: stored.sourcePath }).document;
      }
      const { storedName, sha256, bytes, changedAt } = copy;
      // It may have failed because its file was missing: then queue it again.
      const waits = stored.document.state.status === 'failed' ? { state: { status: 'queued' } as const } : {};
      return update(id, { storedName, sha256, bytes, sourceChangedAt: changedAt, ...waits }).document;
    } catch (error) {
      return findDocument(db, id) ? update(id, { state: failedState(error) }).document : stored.document;
    }
  }

  function watchedFolderOf({ watched, sourcePath, document }: StoredDocument): string | null {
    if (!watched) return null;
    const folders = listWatched(db).filter(({ collectionId }) => collectionId === document.collectionId);
    return folders.find(({ path }) => isBelow(sourcePath, path))?.path ?? null;
  }

  /** In small batches, so that nothing else is blocked. */
  async function clear(number: number) {
    while (removeContent(db, number)) await new Promise((next) => setImmediate(next));
  }

  async function readOne(id: DocumentId): Promise<void> {
    const stored = findDocument(db, id);
    if (stored?.document.state.status !== 'queued' || stored.storedName === null) return;
    const { number, storedName, ocr, attempts } = stored;
    const { kind, fileName, bytes, collectionId } = stored.document;
    const abort = new AbortController();
    current = { id, collectionId, abort };
    let position = 1;
    let told = 0;
    let aside = false;
    const stepAside = guarded(console.error, () => {
      if (!othersWait()) return;
      aside = true;
      turns.set(id, 2 * (turns.get(id) ?? turnMs));
      abort.abort();
    });
    const turn = setInterval(stepAside, turns.get(id) ?? turnMs);
    try {
      if (attempts >= MAX_ATTEMPTS) throw endedTwice(fileName);
      // The attempt is stored before the file is opened, so that a crash is known at the next start.
      update(id, {
        state: { status: 'reading', step: 'file', done: 0, total: 0 },
        attempts: attempts + 1,
        passages: 0,
      });
      await clear(number);
      const source = { path: copies.pathOf(storedName), fileName, bytes, password: passwords.get(id) ?? null, ocr };
      const { metadata, notices } = await parser.read(
        source,
        kind,
        {
          batch({ blocks, passages }) {
            if (abort.signal.aborted) return;
            const code = kind === 'code' || kind === 'json';
            addContent(db, { number, name: fileName, code }, { blocks, passages, position }, now());
            position += passages.length;
          },
          progress(progress) {
            if (abort.signal.aborted || Date.now() - told < PROGRESS_MS) return;
            told = Date.now();
            update(id, { state: { status: 'reading', ...progress }, passages: position - 1 });
          },
        },
        abort.signal,
      );
      if (abort.signal.aborted) return;
      passwords.delete(id);
      turns.delete(id);
      update(id, {
        state: { status: 'ready' },
        attempts: 0,
        name: titleOr(fileName, metadata.title),
        pages: metadata.pages,
        passages: position - 1,
        notices: position === 1 ? [...notices, { code: 'no-text', details: {} }] : notices,
      });
    } catch (error) {
      if (abort.signal.aborted || !findDocument(db, id)) return;
      // Another process has locked the database: not the file's fault.
      if (error instanceof LonghandError && error.code === 'conflict') throw error;
      await clear(number);
      turns.delete(id);
      update(id, { state: failedState(error), attempts: 0, passages: 0 });
    } finally {
      clearInterval(turn);
      current = null;
      if (abort.signal.aborted) forgiveAttempt(db, number);
      if (aside && findDocument(db, id)?.document.state.status === 'reading') {
        await clear(number);
        update(id, { state: { status: 'queued' }, passages: 0 });
      }
    }
  }

  function othersWait(): boolean {
    const next = nextQueued(db, turns.keys());
    return next !== undefined && !turns.has(next.document.id);
  }

  async function run(): Promise<void> {
    for (let next = nextQueued(db, turns.keys()); next && !closed; next = nextQueued(db, turns.keys())) {
      const taken = await take(next.document.id);
      if (taken.id === next.document.id) await readOne(taken.id);
    }
  }

  function wake() {
    if (closed || loop) return;
    if (again) beginAnew();
    else begin();
  }

  function begin() {
    loop = run()
      .then(() => {
        pauseMs = FIRST_PAUSE_MS;
      })
      .catch(tryLater)
      .finally(() => {
        loop = null;
      });
  }

  /** Retries later: the database is locked, or the disk is full. */
  function tryLater() {
    if (closed) return;
    again = setTimeout(guarded(console.error, beginAnew), pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** Queues the interrupted document again, whether a timer or a new file wakes the queue. */
  function beginAnew() {
    if (again) clearTimeout(again);
    again = null;
    try {
      forgiveAttempts(db);
      requeueUnsettled(db);
      begin();
    } catch {
      tryLater();
    }
  }

  return {
    take,
    wake,
    givePassword: (id, password) => void passwords.set(id, password),
    interrupt(id) {
      if (current?.id === id || current?.collectionId === id) current.abort.abort();
    },
    async idle() {
      while (loop || again) await (loop ?? new Promise((next) => setTimeout(next, 50)));
    },
    async close() {
      closed = true;
      if (again) clearTimeout(again);
      again = null;
      current?.abort.abort();
      await parser.close();
      await loop;
    },
  };
}

const endedTwice = (fileName: string) =>
  new LonghandError('unreadable', `[documents] Longhand quit unexpectedly twice while reading ${fileName}`, {
    details: { remedy: 'retry', why: 'ended' },
  });

export function failedState(error: unknown): DocumentState {
  const failure = failureOf(error);
  const named = failure.details?.remedy;
  const known = named === 'unlock' || named === 'ocr' || named === 'none' || named === 'retry';
  const hopeless = failure.code === 'unreadable' || failure.code === 'too-large';
  return { status: 'failed', failure, remedy: known ? named : hopeless ? 'none' : 'retry' };
}
