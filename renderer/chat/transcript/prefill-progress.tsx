import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import { useNow } from '../../lib/use-now.ts';
import type { TurnProgress } from '../../stores/chat/reducers.ts';
import { Meter } from '../../ui/meter.tsx';

const QUIET_MS = 300;
const RATE_MS = 3000;

/** Before the first token: how much of the prompt has been read, and how much was cached. */
export function PrefillProgress({ reading }: { reading: NonNullable<TurnProgress['reading']> }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const now = useNow(true);
  const passed = now - reading.since;
  if (passed < QUIET_MS || reading.total === 0) return null;
  const { done, total, cached } = reading;
  const read = Math.max(0, done - cached);
  const rest = passed > RATE_MS && read > 0 ? ((total - done) / read) * passed : null;
  const share = formats.percent(done / total);
  return (
    <div className="max-w-107 tabular-nums">
      <div className="flex items-center">
        <span className="text-fg-2">{t('reading.title', { count: total, tokens: formats.exact(total) })}</span>
        <span className="ms-auto text-fg-3">
          {rest === null ? share : t('reading.rest', { share, rest: formats.duration(rest) })}
        </span>
      </div>
      <Meter
        label={share}
        parts={[
          { share: Math.min(cached, done) / total, tone: 'edge' },
          { share: read / total, tone: 'ink' },
        ]}
        className="mt-1.75 h-1"
      />
      <div className="mt-1.5 text-xs text-fg-3">
        {t('reading.parts', { cached: formats.exact(cached), read: formats.exact(read) })}
      </div>
    </div>
  );
}
