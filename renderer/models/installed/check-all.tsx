import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { useModels } from '../../stores/models/store.ts';
import { Button } from '../../ui/button.tsx';
import { type Checked, checkFiles } from './check-files.ts';

type State = { status: 'rest' } | { status: 'busy'; model: ModelEntry; done: number } | ({ status: 'over' } & Checked);

/** One button that checks all files, and the result. */
export function CheckAll({ models }: { models: readonly ModelEntry[] }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [state, setState] = useState<State>({ status: 'rest' });
  const share = useModels((store) => (state.status === 'busy' ? (store.checking[state.model.id] ?? 0) : 0));
  const check = async () => {
    const found = await checkFiles(models, (model, done) => setState({ status: 'busy', model, done }));
    setState({ status: 'over', ...found });
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
