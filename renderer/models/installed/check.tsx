import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type ModelDetails } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Problem } from '../../shell/problem.tsx';
import { Button } from '../../ui/button.tsx';
import { useModels } from '../store.ts';

type Said =
  | { at: 'rest' | 'busy' | 'fine' }
  | { at: 'damaged'; files: string[]; again: number }
  | { at: 'failed'; failure: Failure };

/** Hashes the files again; damaged blocks are fetched again. */
export function Check({ details }: { details: ModelDetails }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { modelId } = details;
  const share = useModels((state) => state.checking[modelId]);
  const [said, setSaid] = useState<Said>({ at: 'rest' });
  if (details.kept !== 'downloaded') return null;
  const failed = (error: unknown) => setSaid({ at: 'failed', failure: failureOf(error) });
  const check = async () => {
    setSaid({ at: 'busy' });
    try {
      const { damaged, again } = await core.call('models.verify', { modelId });
      setSaid(damaged.length === 0 ? { at: 'fine' } : { at: 'damaged', files: damaged, again });
      if (damaged.length === 0) void useModels.getState().loadDetails(modelId);
    } catch (error) {
      failed(error);
    }
  };
  const repair = () =>
    core.call('models.repair', { modelId }).then(() => useModels.setState({ tab: 'downloads' }), failed);
  return (
    <div className="mt-3 flex flex-wrap items-center gap-2" role="status">
      <Button disabled={said.at === 'busy'} onClick={() => void check()}>
        {said.at === 'busy' ? t('models.checking', { share: formats.percent(share ?? 0) }) : t('models.check')}
      </Button>
      {said.at === 'fine' && <span className="text-xs text-ok-text">{t('models.intact')}</span>}
      {said.at === 'failed' && <Problem failure={said.failure} className="basis-full" />}
      {said.at === 'damaged' && (
        <>
          <span className="text-xs text-bad-text wrap-anywhere">
            {t('models.damaged', { files: said.files.join(', '), size: formats.fileSize(said.again) })}
          </span>
          <Button kind="danger" onClick={() => void repair()}>
            {t('models.repair')}
          </Button>
        </>
      )}
    </div>
  );
}
