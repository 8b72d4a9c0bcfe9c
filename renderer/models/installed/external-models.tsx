import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ExternalModel, type Failure, failureOf } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Problem } from '../../parts/problem.tsx';
import { useModels } from '../../stores/models/store.ts';
import { Button } from '../../ui/button.tsx';
import { copyIn } from './importing.ts';

/** Models of other programs on this computer: linked, never copied or changed. */
export function ExternalModels() {
  const { t } = useTranslation();
  const external = useModels((state) => state.externalModels);
  const { lookAgain } = useModels.getState();
  useEffect(() => {
    if (useModels.getState().externalModels === null) void lookAgain();
  }, [lookAgain]);
  return (
    <section aria-label={t('models.others')} className="mt-4">
      <div className="flex items-center gap-2 border-b border-line px-5 pb-2">
        <h2 className="font-semibold whitespace-nowrap">{t('models.others')}</h2>
        <p className="min-w-0 truncate text-fg-2">
          {external?.length === 0 ? t('models.othersNone') : t('models.othersAbout')}
        </p>
        <Button kind="quiet" className="ms-auto" onClick={() => void lookAgain()}>
          {t('models.lookAgain')}
        </Button>
      </div>
      <ul>
        {(external ?? []).map((model) => (
          <ExternalModelRow key={model.path} model={model} />
        ))}
      </ul>
    </section>
  );
}

function ExternalModelRow({ model }: { model: ExternalModel }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Failure | null>(null);
  const link = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const entry = await core.call('models.linkExternal', { path: model.path });
      useModels.setState((state) => ({
        externalModels: state.externalModels?.filter(({ path }) => path !== model.path) ?? null,
        installed: entry.id,
      }));
    } catch (error) {
      setProblem(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <li className="flex min-h-13 items-center gap-4 border-b border-line px-5 py-2">
      <span className="min-w-0 flex-1">
        <span className="block truncate font-semibold">
          <bdi>{model.name}</bdi>
        </span>
        {problem ? (
          <Problem failure={problem} />
        ) : (
          <span className="block text-xs wrap-anywhere text-fg-3">
            {t('models.foundIn', { app: model.app, form: t(`models.form.${model.kind}`) })}
          </span>
        )}
      </span>
      <span className="tabular-nums">{formats.fileSize(model.bytes)}</span>
      <Button disabled={busy} onClick={() => void link()}>
        {t('models.link')}
      </Button>
      <Button kind="quiet" className="-ms-3" onClick={() => void copyIn(model.path, model.name)}>
        {t('models.copyShort')}
      </Button>
    </li>
  );
}
