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
} from '../../app/protocol/index.ts';
import type { DesktopNews } from './core-ipc.ts';

const RECENT = 10;
const PAUSE_MS = 200;

/** What the desktop shows beside the pages: recent chats, how far downloads and documents are, and what the person has chosen
 *  of it. Runs in the core process and asks as a page does; `tell` hears it whenever something of it is new. */
export async function followCore(core: Pick<Core, 'connect'>, tell: (news: DesktopNews) => void): Promise<void> {
  const [mine, its] = pipePair<ClientFrame, CoreFrame>();
  const client = createClient();
  client.attach(mine);
  core.connect(its);
  let settings = await client.call('settings.get');
  let downloads: readonly Download[] = [];
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
      progress: progressOf(downloads, documents),
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
  // A collection that is new, the manual's at a first start, is asked for once, by whatever changes in it first.
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
      // The manual is read by itself.
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
      // Not before what was said of it earlier and waits for its collection.
      await asked;
      documents.delete(documentId);
      soon();
    }),
  );
  look();
}

/** Those that are being read, and those that were read beside them: true. Forgotten when all are. */
function follow(documents: Map<DocumentId, boolean>, { id, state }: Document): void {
  const waits = state.status === 'queued' || state.status === 'reading';
  if (waits || documents.has(id)) documents.set(id, !waits);
  if ([...documents.values()].every(Boolean)) documents.clear();
}

/** Between 0 and 1, in hundredths; null while nothing comes. Downloads count before documents: they take longer. */
export function progressOf(downloads: readonly Download[], documents: ReadonlyMap<unknown, boolean>): number | null {
  const coming = downloads.filter(({ status }) => status.phase === 'running' || status.phase === 'checking');
  const total = coming.reduce((sum, one) => sum + one.total, 0);
  if (total > 0) return hundredths(coming.reduce((sum, one) => sum + one.done, 0) / total);
  if (documents.size === 0) return null;
  return hundredths([...documents.values()].filter(Boolean).length / documents.size);
}

const hundredths = (share: number): number => Math.round(Math.min(share, 1) * 100) / 100;
