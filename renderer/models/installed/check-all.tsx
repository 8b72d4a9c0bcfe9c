import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { failureOf, type ModelEntry } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Button } from '../../ui/button.tsx';
import { useModels } from '../store.ts';

type State =
  | { status: 'rest' }
  | { status: 'busy'; model: ModelEntry; done: number }
  /** `unchecked`: those whose files could not be read now; that says nothing about them. */
  | { status: 'over'; checked: number; damaged: ModelEntry[]; unchecked: ModelEntry[] };

/** Hashes every file that Longhand fetched, one model after the other, and says which are not as they were published. */
export function CheckAll({ models }: { models: readonly ModelEntry[] }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [state, setState] = useState<State>({ status: 'rest' });
  const share = useModels((store) => (state.status === 'busy' ? (store.checking[state.model.id] ?? 0) : 0));
  const check = async () => {
    const damaged: ModelEntry[] = [];
    const unchecked: ModelEntry[] = [];
    let checked = 0;
    for (const model of models) {
      const details = await core.call('models.details', { modelId: model.id }).catch(() => null);
      if (details !== null && details.kept !== 'downloaded') continue;
      setState({ status: 'busy', model, done: checked });
      const found = await core.call('models.verify', { modelId: model.id }).catch((error) => failureOf(error));
      if ('code' in found) {
        // Removed meanwhile, or nothing of ours: there is nothing to check.
        if (found.code !== 'cancelled' && found.details?.reason !== 'not-ours') unchecked.push(model);
        continue;
      }
      checked++;
      if (found.damaged.length > 0) damaged.push(model);
    }
    setState({ status: 'over', checked, damaged, unchecked });
  };
  const show = (model: ModelEntry) => void useModels.getState().loadDetails(model.id);
  return (
    <span role="status" className="flex min-w-0 items-center gap-2">
      {state.status === 'busy' ? (
        <span className="truncate">
          {t('models.checkingOf', { name: state.model.name, share: formats.percent(share) })}
        </span>
      ) : (
        <Button kind="quiet" onClick={() => void check()}>
          {t('models.checkAll')}
        </Button>
      )}
      {state.status === 'over' && state.damaged.length === 0 && state.checked > 0 && (
        <span className="truncate text-ok-text">{t('models.allIntact', { count: state.checked })}</span>
      )}
      {state.status === 'over' && state.unchecked.length > 0 && (
        <span className="truncate text-warn-text">
          {t('models.unchecked', { names: state.unchecked.map(({ name }) => name).join(', ') })}
        </span>
      )}
      {state.status === 'over' &&
        state.damaged.map((model) => (
          <Button key={model.id} kind="danger" onClick={() => show(model)}>
            {t('models.isDamaged', { name: model.name })}
          </Button>
        ))}
    </span>
  );
}
