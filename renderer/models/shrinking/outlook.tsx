import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelDescription } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { FitTag } from '../../parts/fit-tag.tsx';
import { fitOf } from '../../stores/models/memory-fit.ts';
import { useChosenContext, useModels } from '../../stores/models/store.ts';

type OutlookProps = {
  /** The model that it will be; null if nothing is known of the original. */
  after: ModelDescription | null;
  /** On the disk. */
  bytes: number;
  free: number;
  /** What becomes smaller, and by how much. */
  what: string;
  children: ReactNode;
};

/** What the result will take: of the disk, and of memory at the context of the page. */
export function Outlook({ after, bytes, free, what, children }: OutlookProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const machine = useModels((state) => state.machine);
  const chosen = useChosenContext();
  const fit = machine && after && fitOf(after, machine, chosen);
  return (
    <dl
      aria-label={t('models.smaller.outlook')}
      className="mb-1 flex flex-wrap gap-x-8 gap-y-2 border-b border-line pb-3.5 tabular-nums"
    >
      <div>
        <dt className="text-xs text-fg-3">{what}</dt>
        <dd>{children}</dd>
      </div>
      {fit && machine && (
        <div>
          <dt className="text-xs text-fg-3">
            {t('models.column.memory', { tokens: formats.contextSize(chosen.contextLength) })}
          </dt>
          <dd className="flex items-center gap-2">
            {t('models.memoryOf', { needed: formats.memory(fit.total), limit: formats.memory(machine.limitBytes) })}
            <FitTag verdict={fit.verdict} />
          </dd>
        </div>
      )}
      <div>
        <dt className="text-xs text-fg-3">{t('models.smaller.disk')}</dt>
        <dd>{t('models.smaller.free', { size: formats.fileSize(free) })}</dd>
      </div>
      {bytes >= free && (
        <p role="alert" className="basis-full text-xs text-bad-text">
          {t('library.missing', { size: formats.fileSize(bytes - free) })}
        </p>
      )}
    </dl>
  );
}
