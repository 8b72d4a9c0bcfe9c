import type { Core } from '../../app/core/core.ts';
import {
  type ClientFrame,
  type Collection,
  type CollectionId,
  type CoreFrame,
  createClient,
  type Document,
  type DocumentId,
  type Download,
  guarded,
  pipePair,
  type Shrinking,
} from '../../app/protocol/index.ts';
import type { DesktopNews } from './core-ipc.ts';

const RECENT = 10;
const PAUSE_MS = 200;

/** Collects what the desktop shows outside the pages: recent chats, progress of downloads and imports, and the user's choices
 *  about them. Runs in the core process as a client, like a page; calls `tell` on every change. */
export async function followCore(core: Pick<Core, 'connect'>, tell: (news: DesktopNews) => void): Promise<void> {
  const [mine, its] = pipePair<ClientFrame, CoreFrame>();
  const client = createClient();
  client.attach(mine);
  core.connect(its);
  let settings = await client.call('settings.get');
  let downloads: readonly Download[] = [];
  let shrinking = await client.call('models.shrinking');
  let collections: readonly Collection[] = await client.call('documents.collections');
  const documents = new Map<DocumentId, boolean>();
  let last = '';
  let waiting = false;

  const look = guarded(console.error, async () => {
    waiting = false;
    const recent = await client.call('chats.list', { limit: RECENT });
    const { inTray, quickKeys, selectionKeys } = settings;
    const news: DesktopNews = {
      recent: recent
        .filter(({ title }) => title !== '')
        .sort((a, b) => b.updatedAt - a.updatedAt)
        .slice(0, RECENT)
        .map(({ id, title }) => ({ id, title })),
      progress: progressOf(downloads, documents, shrinking),
      making: shrinking?.status === 'running',
      inTray,
      quickKeys,
      selectionKeys,
    };
    const text = JSON.stringify(news);
    if (text !== last) tell(news);
    last = text;
  });
  const soon = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(look, PAUSE_MS);
  };
  client.on('chat.changed', soon);
  client.on('chat.deleted', soon);
  client.on('settings.changed', (changed) => {
    settings = changed;
    soon();
  });
  client.on('downloads.changed', (changed) => {
    downloads = changed;
    soon();
  });
  client.on('model.shrinking', (changed) => {
    shrinking = changed;
    soon();
  });
  // An unknown collection, such as the manual's at the first start, is fetched once, at the first change in it.
  let asked: Promise<readonly Collection[]> | null = null;
  const collectionOf = async (id: CollectionId) => {
    const known = () => collections.find((one) => one.id === id);
    if (known()) return known();
    asked ??= client.call('documents.collections').finally(() => {
      asked = null;
    });
    collections = await asked;
    return known();
  };
  client.on(
    'document.changed',
    guarded(console.error, async (document: Document) => {
      // The manual is imported automatically.
      if ((await collectionOf(document.collectionId))?.builtIn) return;
      follow(documents, document);
      soon();
    }),
  );
  client.on('collections.changed', (changed) => {
    collections = changed;
  });
  client.on(
    'document.removed',
    guarded(console.error, async ({ documentId }: { documentId: DocumentId }) => {
      // Not before earlier events of the document that wait for its collection.
      await asked;
      documents.delete(documentId);
      soon();
    }),
  );
  look();
}

/** Documents being imported, and those of the same batch that are done (true). Cleared when all are done. */
function follow(documents: Map<DocumentId, boolean>, { id, state }: Document): void {
  const waits = state.status === 'queued' || state.status === 'reading';
  if (waits || documents.has(id)) documents.set(id, !waits);
  if ([...documents.values()].every(Boolean)) documents.clear();
}

/** Where the phases of what is made begin and end, roughly: how long each takes depends on the model and the method. */
const PHASES: Record<Extract<Shrinking, { status: 'running' }>['phase'], readonly [from: number, to: number]> = {
  preparing: [0, 0],
  calibrating: [0, 0.2],
  choosing: [0.2, 0.3],
  writing: [0.3, 0.8],
  converting: [0.2, 0.8],
  measuring: [0.8, 1],
  checking: [1, 1],
};

/** From 0 to 1, in hundredths; null while nothing is under way. What takes longer takes precedence. */
export function progressOf(
  downloads: readonly Download[],
  documents: ReadonlyMap<unknown, boolean>,
  shrinking: Shrinking | null,
): number | null {
  if (shrinking?.status === 'running') {
    const [from, to] = PHASES[shrinking.phase];
    return hundredths(from + shrinking.share * (to - from));
  }
  const coming = downloads.filter(({ status }) => status.phase === 'running' || status.phase === 'checking');
  const total = coming.reduce((sum, one) => sum + one.total, 0);
  if (total > 0) return hundredths(coming.reduce((sum, one) => sum + one.done, 0) / total);
  if (documents.size === 0) return null;
  return hundredths([...documents.values()].filter(Boolean).length / documents.size);
}

const hundredths = (share: number): number => Math.round(Math.min(share, 1) * 100) / 100;
