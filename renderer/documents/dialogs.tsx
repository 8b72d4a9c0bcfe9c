import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Collection, type Document, type Failure, failureOf } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { sentenceOf } from '../sentences.ts';
import { collectionById, useDocuments } from '../stores/documents/store.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { CollectionDialog } from './collection-dialog.tsx';

const close = () => useDocuments.setState({ dialog: { kind: 'none' } });

/** The dialogs of the page, opened from the palette and the rows. */
export function Dialogs() {
  const dialog = useDocuments((state) => state.dialog);
  const collections = useDocuments((state) => state.collections);
  const documents = useDocuments((state) => state.documents);
  switch (dialog.kind) {
    case 'none':
      return null;
    case 'new':
      return <NameDialog collection={null} />;
    case 'rename':
      return <NameDialog collection={collectionById(collections, dialog.collectionId)} />;
    case 'collection': {
      const collection = collectionById(collections, dialog.collectionId);
      return collection && <CollectionDialog collection={collection} onClose={close} />;
    }
    case 'unlock': {
      const document = documents.get(dialog.documentId);
      return document ? <UnlockDialog document={document} /> : null;
    }
  }
}

function NameDialog({ collection }: { collection: Collection | null }) {
  const { t } = useTranslation();
  const [name, setName] = useState(collection?.name ?? '');
  const [failure, setFailure] = useState<Failure | null>(null);
  const { load, choose } = useDocuments.getState();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    try {
      if (collection) await core.call('documents.renameCollection', { collectionId: collection.id, name });
      const made = collection ?? (await core.call('documents.createCollection', { name }));
      await load();
      if (!collection) choose(made.id);
      close();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      open
      onClose={close}
      title={collection ? t('documents.rename') : t('documents.newCollection')}
      footer={
        <>
          <span className="flex-1" />
          <Button large onClick={close}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" type="submit" form="collection-name" disabled={name.trim() === ''}>
            {collection ? t('documents.saveName') : t('documents.create')}
          </Button>
        </>
      }
    >
      <form id="collection-name" onSubmit={(event) => void save(event)}>
        <Field
          large
          data-suggested
          aria-label={t('documents.collectionName')}
          placeholder={t('documents.collectionName')}
          value={name}
          maxLength={200}
          problem={failure && sentenceOf(failure)}
          onChange={(event) => setName(event.target.value)}
        />
      </form>
    </Dialog>
  );
}

/** The password is used to read the file, and is not stored. */
function UnlockDialog({ document }: { document: Document }) {
  const { t } = useTranslation();
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const unlock = async (event: FormEvent) => {
    event.preventDefault();
    if (password === '') return;
    try {
      await core.call('documents.retry', { documentId: document.id, password });
      close();
    } catch (error) {
      setProblem(sentenceOf(failureOf(error)));
    }
  };
  return (
    <Dialog
      open
      onClose={close}
      title={t('documents.unlockTitle', { name: document.fileName })}
      description={t('documents.unlockAbout')}
      footer={
        <>
          <span className="flex-1" />
          <Button large onClick={close}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" type="submit" form="unlock" disabled={password === ''}>
            {t('documents.unlock')}
          </Button>
        </>
      }
    >
      <form id="unlock" onSubmit={(event) => void unlock(event)}>
        <Field
          large
          data-suggested
          type="password"
          autoComplete="off"
          aria-label={t('documents.password')}
          placeholder={t('documents.password')}
          value={password}
          problem={problem}
          onChange={(event) => setPassword(event.target.value)}
        />
      </form>
    </Dialog>
  );
}
