import { useTranslation } from 'react-i18next';
import type { TrialSide } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { Problem } from '../../parts/problem.tsx';
import { Markdown } from '../../ui/markdown/markdown.tsx';

/** The answer of one of the two, as far as it is written. */
export function Side({ side }: { side: TrialSide | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <div className="mt-2 h-72 overflow-y-auto rounded-lg bg-card px-3.5 py-3 shadow-1 max-md:h-44">
      {side && (
        <p role="status" className="text-xs text-fg-3 tabular-nums">
          {t(`models.trial.status.${side.status}`)}
          {side.tokensPerSecond !== null && `, ${formats.speed(side.tokensPerSecond)}`}
        </p>
      )}
      {side && side.text !== '' && (
        <div className="prose mt-1.5 wrap-anywhere select-text">
          <Markdown text={side.text} growing={side.status === 'writing'} />
        </div>
      )}
      {side?.cut && <p className="mt-1.5 text-xs text-fg-3">{t('models.trial.cut')}</p>}
      {side?.failure && <Problem failure={side.failure} className="mt-1.5" />}
    </div>
  );
}
