import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import type { TurnProgress } from '../../stores/chat/reducers.ts';
import { actions } from '../../stores/chat/store.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Says that much of the answer is repetitive, as in a list or table. It continues; the user can stop it. */
export function SimilarLine({ similar: { repeats } }: { similar: NonNullable<TurnProgress['similar']> }) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <div role="status" className="mt-2 flex items-center gap-2 text-xs text-fg-3">
      <Icon name="loop" size={14} />
      <span className="min-w-0">{t('loop.soFar', { count: repeats, times: formats.exact(repeats) })}</span>
      <Button kind="link" className="text-xs" onClick={() => void actions.stop()}>
        {t('pause.choice.stop')}
      </Button>
    </div>
  );
}
