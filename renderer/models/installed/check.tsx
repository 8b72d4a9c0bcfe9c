import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type ModelDetails } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Problem } from '../../parts/problem.tsx';
import { useModels } from '../../stores/models/store.ts';
import { Button } from '../../ui/button.tsx';
import { isOurs } from './check-files.ts';

type Said =
  | { status: 'rest' | 'busy' | 'fine' }
  | { status: 'damaged'; files: string[]; again: number }
  | { status: 'failed'; failure: Failure };

/** Hashes the files; damaged blocks are downloaded again. */
export function Check({ details }: { details: ModelDetails }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { modelId } = details;
  const share = useModels((state) => state.checking[modelId]);
  const [said, setSaid] = useState<Said>({ status: 'rest' });
  if (!isOurs(details)) return null;
  const made = details.ownership === 'made';
  const failed = (error: unknown) => setSaid({ status: 'failed', failure: failureOf(error) });
  const check = async () => {
    setSaid({ status: 'busy' });
    try {
      const { damaged, again } = await core.call('models.verify', { modelId });
      setSaid(damaged.length === 0 ? { status: 'fine' } : { status: 'damaged', files: damaged, again });
      if (damaged.length === 0) void useModels.getState().loadDetails(modelId);
    } catch (error) {
      failed(error);
    }
  };
  const repair = () =>
    core.call('models.repair', { modelId }).then(() => useModels.setState({ tab: 'downloads' }), failed);
  return (
    <div className="mt-3 flex flex-wrap items-center gap-2" role="status">
      <Button disabled={said.status === 'busy'} onClick={() => void check()}>
        {said.status === 'busy' ? t('models.checking', { share: formats.percent(share ?? 0) }) : t('models.check')}
      </Button>
      {said.status === 'fine' && (
        <span className="text-xs text-ok-text">{t(made ? 'models.intactMade' : 'models.intact')}</span>
      )}
      {said.status === 'failed' && <Problem failure={said.failure} className="basis-full" />}
      {said.status === 'damaged' && (
        <>
          <span className="text-xs text-bad-text wrap-anywhere">
            {made
              ? t('models.damagedMade', { files: said.files.join(', ') })
              : t('models.damaged', { files: said.files.join(', '), size: formats.fileSize(said.again) })}
          </span>
          {!made && (
            <Button kind="danger" onClick={() => void repair()}>
              {t('models.repair')}
            </Button>
          )}
        </>
      )}
    </div>
  );
}
