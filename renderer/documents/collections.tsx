import { useTranslation } from 'react-i18next';
import type { Collection, FolderProblem } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { useDocuments } from '../stores/documents/store.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Menu, MenuItem, MenuLine } from '../ui/overlays/menu.tsx';
import { deleteCollection } from './actions.ts';
import { aboutProblem } from './words.ts';

/** All documents, every collection with its count, and the drop target. */
export function CollectionColumn() {
  const { t } = useTranslation();
  return (
    <div className="flex min-h-0 flex-1 flex-col px-2 py-3">
      <nav aria-label={t('documents.collections')} className="min-h-0 flex-1 overflow-y-auto">
        <CollectionRows />
      </nav>
      <p className="mt-3 flex-none rounded-lg border border-dashed border-edge px-3 py-3.5 text-center text-xs text-fg-3">
        {t('documents.dropAnywhere')}
        <br />
        {t('documents.kinds')}
      </p>
    </div>
  );
}

export function CollectionRows({ onChosen }: { onChosen?: () => void }) {
  const { t } = useTranslation();
  const collections = useDocuments((state) => state.collections) ?? [];
  const count = useDocuments((state) => state.documents.size);
  const chosen = useDocuments((state) => state.chosen);
  const choose = (id: Collection['id'] | null) => {
    useDocuments.getState().choose(id);
    onChosen?.();
  };
  return (
    <>
      <Row
        icon="documents"
        name={t('documents.all')}
        count={count}
        current={chosen === null}
        onClick={() => choose(null)}
      />
      {collections.length > 0 && (
        <h2 className="mt-2.5 flex h-6 items-center px-2 text-2xs font-semibold text-fg-3">
          {t('documents.collections')}
        </h2>
      )}
      <ul className="flex flex-col gap-px">
        {collections.map((collection) => (
          <li key={collection.id} className="group/row relative">
            <Row
              icon="collection"
              name={collection.name}
              count={collection.documents}
              current={collection.id === chosen}
              problem={collection.folders.find(({ problem }) => problem !== null)?.problem ?? null}
              menu={!collection.builtIn}
              onClick={() => choose(collection.id)}
            />
            {!collection.builtIn && <Options collection={collection} />}
          </li>
        ))}
      </ul>
    </>
  );
}

type RowProps = {
  icon: IconName;
  name: string;
  count: number;
  current: boolean;
  problem?: FolderProblem | null;
  menu?: boolean;
  onClick: () => void;
};

function Row({ icon, name, count, current, problem = null, menu = false, onClick }: RowProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <button
      type="button"
      aria-current={current ? 'true' : undefined}
      title={problem ? aboutProblem(problem, t) : undefined}
      onClick={onClick}
      className={`flex h-row w-full items-center gap-2 rounded-sm px-2 ring-inset-focus ${current ? 'bg-select font-medium text-fg' : 'text-fg-2 hover:bg-hover'}`}
    >
      <Icon
        name={problem ? 'warning' : icon}
        className={problem ? 'text-warn-text' : current ? 'text-fg' : 'text-fg-3'}
      />
      <bdi className="min-w-0 flex-1 truncate">{name}</bdi>
      <span
        className={`text-2xs font-normal text-fg-3 tabular-nums ${menu ? 'group-focus-within/row:invisible group-hover/row:invisible group-has-data-[state=open]/row:invisible' : ''}`}
      >
        {formats.exact(count)}
      </span>
    </button>
  );
}

/** Actions on a collection, replacing its count on hover or focus. */
function Options({ collection }: { collection: Collection }) {
  const { t } = useTranslation();
  const dialog = (at: 'rename' | 'collection') =>
    useDocuments.setState({ dialog: { kind: at, collectionId: collection.id } });
  return (
    <span className="absolute inset-y-0 end-0.5 flex items-center opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-data-[state=open]:opacity-100">
      <Menu
        label={t('documents.optionsOf', { name: collection.name })}
        trigger={<IconButton small icon="more" label={t('documents.optionsOf', { name: collection.name })} />}
      >
        <MenuItem onSelect={() => dialog('collection')}>{t('documents.foldersAndSearch')}</MenuItem>
        <MenuItem onSelect={() => dialog('rename')}>{t('documents.rename')}</MenuItem>
        <MenuLine />
        <MenuItem danger onSelect={() => void deleteCollection(collection)}>
          {t('documents.delete')}
        </MenuItem>
      </Menu>
    </span>
  );
}
