import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ExternalModel, type Failure, failureOf, type ModelEntry } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { AddModel } from '../parts/add-model.tsx';
import { Problem } from '../parts/problem.tsx';
import { useChat } from '../stores/chat/store.ts';
import { useModels } from '../stores/models/store.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

/** A line for every program with models on this computer. */
export function FoundFacts() {
  const { t } = useTranslation();
  const formats = useFormats();
  const external = useModels((state) => state.externalModels) ?? [];
  const byApp = Map.groupBy(external, ({ app }) => app);
  return [...byApp].map(([app, models]) => (
    <li key={app} className="flex items-center gap-2 text-fg-2 tabular-nums">
      <Icon name="folder" className="text-fg-3" />
      <span className="min-w-0 flex-1">{app}</span>
      <span className="text-end text-fg-3">
        {t('onboarding.foundHere', {
          count: models.length,
          size: formats.fileSize(models.reduce((sum, { bytes }) => sum + bytes, 0)),
        })}
      </span>
    </li>
  ));
}

/** Models already on this computer: those that were found, or any file by its path. */
export function ExistingModels({ found, begin }: { found: boolean; begin: () => void }) {
  const { t } = useTranslation();
  const [choosing, setChoosing] = useState(false);
  const use = (model: ModelEntry) => {
    useChat.setState((state) => ({ fresh: { ...state.fresh, modelId: model.id } }));
    begin();
  };
  if (!choosing) {
    return (
      <Button large className="w-full" onClick={() => setChoosing(true)}>
        {found ? t('onboarding.chooseFound') : t('onboarding.choose')}
      </Button>
    );
  }
  return (
    <div className="-mx-2.5 -mb-1.5">
      {found && <Found onUse={use} />}
      <AddModel onAdded={use} />
    </div>
  );
}

function Found({ onUse }: { onUse: (model: ModelEntry) => void }) {
  const { t } = useTranslation();
  const external = useModels((state) => state.externalModels) ?? [];
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Failure | null>(null);
  const link = async ({ path }: ExternalModel) => {
    setBusy(true);
    setProblem(null);
    try {
      onUse(await core.call('models.linkExternal', { path }));
    } catch (error) {
      setProblem(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <ul aria-label={t('onboarding.found')} className="mb-1 max-h-44 overflow-y-auto">
        {external.map((model) => (
          <li key={model.path}>
            <button
              type="button"
              disabled={busy}
              onClick={() => void link(model)}
              className="flex min-h-9 w-full items-center gap-2 rounded-sm px-2.5 text-start ring-inset-focus hover:bg-hover disabled:opacity-60"
            >
              <bdi className="min-w-0 flex-1 truncate font-medium">{model.name}</bdi>
              <span className="text-xs text-fg-3">{model.app}</span>
            </button>
          </li>
        ))}
      </ul>
      {problem && <Problem failure={problem} className="px-2.5 pb-1" />}
    </>
  );
}
