import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { builtInEmbedder, type Collection, failureOf, type ModelId } from '../../app/protocol/index.ts';
import { choose, core, isElectron } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { sentenceOf } from '../sentences.ts';
import { useEngine } from '../stores/engine.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Select } from '../ui/choice.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Meter } from '../ui/meter.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { aboutProblem } from './words.ts';

/** Watched folders, and whether search is by words alone or also by meaning. */
export function CollectionDialog({ collection, onClose }: { collection: Collection; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      open
      onClose={onClose}
      title={collection.name}
      width={560}
      footer={
        <>
          <span className="flex-1" />
          <Button large data-suggested onClick={onClose}>
            {t('close')}
          </Button>
        </>
      }
    >
      <Folders collection={collection} />
      <Meaning collection={collection} />
    </Dialog>
  );
}

function Folders({ collection }: { collection: Collection }) {
  const { t } = useTranslation();
  const [path, setPath] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const { id: collectionId, folders } = collection;
  const watch = async (wanted: string) => {
    setProblem(null);
    try {
      await core.call('documents.watch', { collectionId, path: wanted });
      setPath('');
    } catch (error) {
      setProblem(sentenceOf(failureOf(error)));
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim() !== '') void watch(path.trim());
  };
  const ask = async () => {
    const [chosen] = (await choose('document-folder')) ?? [];
    if (chosen) await watch(chosen);
  };
  return (
    <section aria-labelledby="watched-folders">
      <h3 id="watched-folders" className="font-semibold">
        {t('documents.watched')}
      </h3>
      <p className="mt-0.5 text-xs text-fg-3">{t('documents.watchedAbout')}</p>
      <ul className="mt-2 flex flex-col gap-1">
        {folders.map((folder) => (
          <li key={folder.path} className="flex items-start gap-2 rounded-md bg-sunken px-3 py-1.5">
            <Icon
              name={folder.problem === null ? 'folder' : 'warning'}
              className={`mt-0.75 ${folder.problem === null ? 'text-fg-3' : 'text-warn-text'}`}
            />
            <span className="min-w-0 flex-1">
              <bdi className="block wrap-anywhere">{folder.path}</bdi>
              {folder.problem !== null && (
                <span className="block text-xs text-warn-text">{aboutProblem(folder.problem, t)}</span>
              )}
            </span>
            <IconButton
              small
              icon="close"
              label={t('documents.unwatch', { path: folder.path })}
              onClick={() => void core.call('documents.unwatch', { collectionId, path: folder.path })}
            />
          </li>
        ))}
      </ul>
      <form onSubmit={submit} className="mt-2 flex items-start gap-2">
        <Field
          aria-label={t('documents.folderPath')}
          placeholder={t('documents.folderPath')}
          value={path}
          spellCheck={false}
          problem={problem}
          onChange={(event) => setPath(event.target.value)}
          className="min-w-0 flex-1"
        />
        {isElectron() && <Button onClick={() => void ask()}>{t('documents.chooseFolder')}</Button>}
        <Button type="submit" disabled={path.trim() === ''}>
          {t('documents.watch')}
        </Button>
      </form>
    </section>
  );
}

const BY_WORDS = 'words';

function Meaning({ collection }: { collection: Collection }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const encoders = useEngine((state) => state.models).filter(
    ({ description, missing }) => description?.encoder && !description.reranker && !missing,
  );
  const { embedding } = collection;
  const [problem, setProblem] = useState<string | null>(null);
  const set = async (value: string) => {
    const modelId = value === BY_WORDS ? null : (value as ModelId);
    setProblem(null);
    try {
      await core.call('documents.setEmbedding', { collectionId: collection.id, modelId });
    } catch (error) {
      setProblem(sentenceOf(failureOf(error)));
    }
  };
  const options = [
    { value: BY_WORDS, name: t('documents.wordsAlone') },
    { value: builtInEmbedder.id as string, name: t('documents.builtInEmbedder', { model: builtInEmbedder.name }) },
    ...encoders.map((model) => ({ value: model.id as string, name: model.name })),
  ];
  if (embedding && !options.some(({ value }) => value === embedding.modelId))
    options.push({ value: embedding.modelId, name: embedding.name });
  return (
    <section aria-labelledby="search-by" className="mt-5 border-t border-line pt-4">
      <div className="flex items-center gap-3">
        <h3 id="search-by" className="flex-1 font-semibold">
          {t('documents.searchBy')}
        </h3>
        <Select
          label={t('documents.searchBy')}
          value={embedding?.modelId ?? BY_WORDS}
          options={options}
          width={200}
          onChange={(value) => void set(value)}
        />
      </div>
      <p className="mt-1 text-xs text-fg-3">
        {embedding ? t('documents.byMeaning', { model: embedding.name }) : t('documents.byWords')}
      </p>
      {embedding && embedding.done < embedding.total && (
        <div className="mt-2 flex items-center gap-3 text-xs text-fg-2 tabular-nums">
          <Meter
            className="h-1 flex-1"
            parts={[{ share: embedding.done / embedding.total, tone: 'ink' }]}
            label={t('documents.embedding')}
          />
          {t('documents.embedded', { done: formats.exact(embedding.done), total: formats.exact(embedding.total) })}
        </div>
      )}
      {problem && <p className="mt-1 text-xs text-bad-text">{problem}</p>}
    </section>
  );
}
