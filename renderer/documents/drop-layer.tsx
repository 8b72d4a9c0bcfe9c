import { type DragEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CollectionId } from '../../app/protocol/index.ts';
import { attachDropped } from '../chat/attach-dropped.ts';
import { useShell } from '../shell/store.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { addFiles, ensureCollection } from './actions.ts';
import { filesOf } from './dropped.ts';
import { useDocuments } from './store.ts';

const holdsFiles = (event: { dataTransfer: DataTransfer | null }) =>
  event.dataTransfer?.types.includes('Files') ?? false;

/** While files hang over the window: where they would go, under the pointer. */
function useDragging(): [boolean, () => void] {
  const [dragging, setDragging] = useState(false);
  useEffect(() => {
    const enter = (event: globalThis.DragEvent) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      setDragging(true);
    };
    const over = (event: globalThis.DragEvent) => {
      if (holdsFiles(event)) event.preventDefault();
    };
    const leave = (event: globalThis.DragEvent) => {
      if (event.relatedTarget === null) setDragging(false);
    };
    const drop = (event: globalThis.DragEvent) => {
      if (holdsFiles(event)) event.preventDefault();
      setDragging(false);
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return [dragging, () => setDragging(false)];
}

type Target = { key: string; icon: IconName; name: string; take: (files: File[]) => Promise<void> };

/** Files dropped anywhere on the app: into a collection, or along with the message in a chat. */
export function DropLayer() {
  const { t } = useTranslation();
  const [dragging, end] = useDragging();
  const inChat = useShell((state) => state.place.at === 'chat');
  const collections = useDocuments((state) => state.collections)?.filter((collection) => !collection.builtIn) ?? [];
  if (!dragging) return null;
  const into = (wanted: CollectionId | null) => async (files: File[]) => {
    const collectionId = await ensureCollection(wanted);
    useShell.getState().go({ at: 'documents' });
    useDocuments.getState().choose(collectionId);
    await addFiles(collectionId, files);
  };
  const targets: Target[] = [
    ...(inChat
      ? [
          {
            key: 'chat',
            icon: 'chat' as const,
            name: t('documents.dropInChat'),
            take: async (files: File[]) => attachDropped(files),
          },
        ]
      : []),
    ...collections.map((collection) => ({
      key: collection.id,
      icon: 'collection' as const,
      name: collection.name,
      take: into(collection.id),
    })),
    ...(collections.length === 0
      ? [{ key: 'new', icon: 'documents' as const, name: t('documents.firstCollection'), take: into(null) }]
      : []),
  ];
  return (
    <div className="fixed inset-0 z-50 grid place-items-center bg-scrim">
      <div
        role="dialog"
        aria-label={t('documents.dropHere')}
        className="flex max-h-[80vh] w-90 max-w-[calc(100vw-2rem)] flex-col overflow-hidden rounded-xl bg-raised p-3 shadow-3"
      >
        <h2 className="px-2 pt-1 pb-2.5 text-lg font-semibold tracking-tight">{t('documents.dropHere')}</h2>
        <ul className="flex min-h-0 flex-col gap-1 overflow-y-auto">
          {targets.map((target) => (
            <DropTarget key={target.key} target={target} onTaken={end} />
          ))}
        </ul>
      </div>
    </div>
  );
}

function DropTarget({ target, onTaken }: { target: Target; onTaken: () => void }) {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const files = filesOf(event.dataTransfer);
    onTaken();
    void files.then((all) => (all.length > 0 ? target.take(all) : undefined));
  };
  return (
    <li
      onDragEnter={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      className={`flex min-h-14 items-center gap-3 rounded-lg px-3.5 ${over ? 'bg-ink-soft hairline-focus' : 'bg-sunken'}`}
    >
      <Icon name={target.icon} size={20} className={over ? 'text-ink-text' : 'text-fg-3'} />
      <bdi className="min-w-0 flex-1 truncate font-medium">{target.name}</bdi>
    </li>
  );
}
