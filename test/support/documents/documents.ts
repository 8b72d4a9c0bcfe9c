import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StartParser } from '../../../app/documents/parse/fork-parser.ts';
import { createDocuments, type Documents, type DocumentsOptions } from '../../../app/documents/service.ts';
import {
  type CallName,
  type Collection,
  calls,
  type Document,
  type EventName,
  type EventPayload,
  type RequestInput,
  type Response,
} from '../../../app/protocol/index.ts';
import type { Database } from '../../../app/store/database/database.ts';
import { openStore } from '../../../app/store/store.ts';
import { newFolder, places, realParser } from '../core/core.ts';
import { noEncoders } from './no-encoders.ts';

//  A core's documents, without the rest of the core.

type DocumentCall = Extract<CallName, `documents.${string}`>;

export type Shelf = {
  documents: Documents;
  db: Database;
  dataFolder: string;
  events: { name: EventName; payload: unknown }[];
  of<Name extends EventName>(name: Name): EventPayload<Name>[];
  call<Name extends DocumentCall>(name: Name, request: RequestInput<Name>): Promise<Response<Name>>;
  collection: Collection;
  /** Writes files into a new folder, adds them and waits until all have been read. */
  add(files: Record<string, string | Uint8Array>): Promise<Document[]>;
  close(): Promise<void>;
};

export async function openShelf(
  options: {
    dataFolder?: string;
    startParser?: StartParser;
    help?: string;
    /** If absent, there is no encoder. */
    meaning?: Pick<DocumentsOptions, 'engine' | 'embedders'>;
    recognise?: DocumentsOptions['recognise'];
    onEvent?: (name: EventName, payload: unknown) => void;
    turnMs?: number;
  } = {},
): Promise<Shelf> {
  const dataFolder = options.dataFolder ?? newFolder();
  const store = await openStore({ folder: dataFolder, migrations: places.migrations });
  const events: Shelf['events'] = [];
  const documents = createDocuments({
    db: store.db,
    emit(name, payload) {
      events.push({ name, payload });
      options.onEvent?.(name, payload);
    },
    dataFolder,
    ...(options.meaning ?? noEncoders),
    startParser: options.startParser ?? realParser(),
    recognise: options.recognise ?? null,
    help: options.help ?? null,
    // Behind what a start does after half a second, as in the app.
    helpAfterMs: 600,
    ...(options.turnMs !== undefined && { turnMs: options.turnMs }),
    now: Date.now,
  });
  let closed = false;
  async function close() {
    if (closed) return;
    closed = true;
    await documents.close();
    store.close();
  }
  onTestFinished(close);

  async function call<Name extends DocumentCall>(name: Name, request: RequestInput<Name>): Promise<Response<Name>> {
    const parsed = calls[name].request.parse(request);
    return (await documents.handlers[name](parsed as never)) as Response<Name>;
  }
  const known = (await call('documents.collections', undefined)).find(({ builtIn }) => !builtIn);
  const collection = known ?? (await call('documents.createCollection', { name: 'Papers' }));

  return {
    documents,
    db: store.db,
    dataFolder,
    events,
    of: <Name extends EventName>(name: Name) =>
      events.filter((one) => one.name === name).map(({ payload }) => payload as EventPayload<Name>),
    call,
    collection,
    async add(files) {
      const folder = newFolder();
      for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
      const added = await call('documents.add', {
        collectionId: collection.id,
        files: Object.keys(files).map((name) => ({ path: join(folder, name), name })),
      });
      await documents.idle();
      const list = await call('documents.list', { collectionId: collection.id });
      return added.map(({ id }) => list.find((one) => one.id === id) as Document);
    },
    close,
  };
}

/** The text at every span of a passage, with its place. */
export async function firstPassage(shelf: Shelf, query: string, documentId?: Document['id']) {
  const { hits } = await shelf.call('documents.search', { query, ...(documentId && { documentId }) });
  const [hit] = hits;
  if (!hit) throw new Error(`nothing found for ${query}`);
  return { hit, passage: await shelf.call('documents.passage', { passageId: hit.passageId }) };
}
