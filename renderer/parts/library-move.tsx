import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type LibraryPlan } from '../../app/protocol/index.ts';
import { choose, core, isElectron } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { sentenceOf } from '../sentences.ts';
import { useModels } from '../stores/models/store.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';

const LOOK_MS = 300;
const reasons = ['same', 'inside', 'not-empty', 'file', 'relative', 'link'] as const;

type Looked = { status: 'none' } | { status: 'plan'; plan: LibraryPlan } | { status: 'refused'; failure: Failure };

const refused = (error: unknown): Looked => ({ status: 'refused', failure: failureOf(error) });

/** Asks where to move the models, and shows what that takes before anything is done. */
export function MoveDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const library = useModels((state) => state.library);
  const [folder, setFolder] = useState('');
  const [looked, setLooked] = useState<Looked>({ status: 'none' });
  useEffect(() => {
    setLooked({ status: 'none' });
    if (folder.trim() === '') return;
    let current = true;
    const timer = setTimeout(() => {
      core.call('library.plan', { folder: folder.trim() }).then(
        (plan) => current && setLooked({ status: 'plan', plan }),
        (error) => current && setLooked(refused(error)),
      );
    }, LOOK_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [folder]);
  const ready = looked.status === 'plan' && looked.plan.missing === 0;
  const move = (event: FormEvent) => {
    event.preventDefault();
    if (ready)
      core.call('library.move', { folder: looked.plan.folder }).then(onClose, (error) => setLooked(refused(error)));
  };
  const ask = async () => {
    const [chosen] = (await choose('model-folder')) ?? [];
    if (chosen) setFolder(chosen);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('library.move')}
      description={t('library.moveAbout')}
      footer={
        <>
          {library && library.folder !== library.home && (
            <Button large kind="quiet" onClick={() => setFolder(library.home)}>
              {t('library.home')}
            </Button>
          )}
          <span className="flex-1" />
          <Button large onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" type="submit" form="move-library" disabled={!ready}>
            {t('library.begin')}
          </Button>
        </>
      }
    >
      <form id="move-library" onSubmit={move} className="min-h-20">
        <div className="flex items-start gap-2">
          <Field
            className="min-w-0 flex-1"
            large
            aria-label={t('library.path')}
            placeholder={t('library.path')}
            dir="ltr"
            spellCheck={false}
            value={folder}
            problem={looked.status === 'refused' ? sentenceFor(looked.failure) : null}
            onChange={(event) => setFolder(event.target.value)}
            data-suggested
          />
          {isElectron() && (
            <Button large icon="folder" onClick={() => void ask()}>
              {t('model.folder')}
            </Button>
          )}
        </div>
        {looked.status === 'plan' && (
          <p role="status" className={`mt-2 text-xs wrap-anywhere ${ready ? 'text-fg-2' : 'text-bad-text'}`}>
            {sentenceOfPlan(looked.plan)}
          </p>
        )}
      </form>
    </Dialog>
  );

  function sentenceFor(failure: Failure): string {
    const { details } = failure;
    const reason = reasons.find((one) => one === details?.reason);
    if (reason) return t(`library.refused.${reason}`);
    if (typeof details?.missing === 'number') return t('library.missing', { size: formats.fileSize(details.missing) });
    return sentenceOf(failure);
  }

  function sentenceOfPlan({ folder: to, bytes, more, copies, free, missing }: LibraryPlan): string {
    const size = formats.fileSize(bytes);
    const takes =
      missing > 0
        ? t('library.missing', { size: formats.fileSize(missing) })
        : copies
          ? t('library.copies', { folder: to, size, free: formats.fileSize(free) })
          : t('library.moment', { folder: to, size });
    return more > 0 ? `${takes} ${t('library.more', { size: formats.fileSize(more) })}` : takes;
  }
}
