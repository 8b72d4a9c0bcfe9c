import { useTranslation } from 'react-i18next';
import type { CollectionId } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useDocuments } from '../../stores/documents/store.ts';
import { useShell } from '../../stores/shell.ts';
import { Icon } from '../../ui/icon.tsx';
import { Popover, PopoverLine } from '../../ui/overlays/popover.tsx';
import { PassagesSwitch } from './passages-switch.tsx';

const none: readonly CollectionId[] = [];

/** The collections that this chat is answered from. None: the model answers without documents. */
export function DocumentsMenu() {
  const { t } = useTranslation();
  const formats = useFormats();
  const collections = useDocuments((state) => state.collections);
  const chat = useChat((state) => state.open?.chat ?? null);
  const isNew = useChat((state) => state.chosen === null);
  const fresh = useChat((state) => state.fresh.collectionIds);
  const open = useChat((state) => state.overlay.kind === 'documents');
  const { setOverlay, closeOverlay, update } = actions;
  const chosen = isNew ? fresh : (chat?.collectionIds ?? none);
  const names = (collections ?? []).filter(({ id }) => chosen.includes(id)).map(({ name }) => name);
  const set = (next: CollectionId[]) => {
    if (isNew) useChat.setState((state) => ({ fresh: { ...state.fresh, collectionIds: next } }));
    else void update({ collectionIds: next });
  };
  const toggle = (id: CollectionId) =>
    set(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  const on = names.length > 0;
  const title = t('composer.documents');
  const shown = names.length > 1 ? t('composer.collections', { count: names.length }) : names[0];
  return (
    <Popover
      label={title}
      width={288}
      open={open}
      onOpen={(next) => (next ? setOverlay({ kind: 'documents' }) : closeOverlay('documents'))}
      trigger={
        <button
          type="button"
          aria-label={on ? t('composer.documentsFrom', { names: names.join(', ') }) : title}
          className={`inline-flex h-row min-w-0 items-center gap-1.5 rounded-sm px-2 font-medium whitespace-nowrap ${on ? 'bg-ink-soft text-ink-text' : 'text-fg-2 hover:bg-hover data-[state=open]:bg-select'}`}
        >
          <Icon name="documents" className={on ? '' : 'text-fg-3'} />
          <bdi className={`max-w-36 truncate ${on ? '@max-[34rem]:sr-only' : '@max-[46rem]:sr-only max-lg:sr-only'}`}>
            {shown ?? title}
          </bdi>
        </button>
      }
    >
      <h2 className="px-2.5 pt-1.75 font-semibold">{title}</h2>
      <p className="px-2.5 pb-1.5 text-xs text-fg-3">{t('composer.documentsAbout')}</p>
      <ul>
        {(collections ?? []).map((collection) => (
          <li key={collection.id}>
            <button
              type="button"
              aria-pressed={chosen.includes(collection.id)}
              onClick={() => toggle(collection.id)}
              className="flex h-row w-full items-center gap-2 rounded-sm px-2.5 ring-inset-focus hover:bg-hover"
            >
              <Icon name="collection" size={14} className="text-fg-3" />
              <bdi className="min-w-0 flex-1 truncate">{collection.name}</bdi>
              <span className="text-2xs text-fg-3 tabular-nums">{formats.exact(collection.documents)}</span>
              <span className="w-3.5 text-ink-text">
                {chosen.includes(collection.id) && <Icon name="check" size={14} />}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <PassagesSwitch />
      <PopoverLine />
      <button
        type="button"
        onClick={() => {
          closeOverlay('documents');
          useShell.getState().go({ kind: 'documents' });
        }}
        className="flex h-row w-full items-center gap-2 rounded-sm px-2.5 text-fg-2 ring-inset-focus hover:bg-hover"
      >
        {t('composer.manageDocuments')}
      </button>
    </Popover>
  );
}
