import { useTranslation } from 'react-i18next';
import type { Forecast } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';

const PARTS = ['weights', 'context', 'state', 'buffers'] as const;
const colours = {
  weights: 'bg-series-1',
  context: 'bg-series-2',
  state: 'bg-series-4',
  buffers: 'bg-series-5',
} as const;

/** Position of the limit in the bar; the space beyond shows by how much a model is too large. */
const LIMIT_AT = 0.75;

const partsOf = (fit: Forecast) => ({
  weights: fit.weights,
  context: fit.context,
  state: fit.state,
  buffers: fit.activations + fit.headroom,
});

/** The memory a model takes, to scale, against what this machine has. */
export function MemoryBar({ fit, limit, note }: { fit: Forecast; limit: number; note?: string }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const parts = partsOf(fit);
  const scale = Math.max(limit / LIMIT_AT, fit.total);
  const limitText = t('models.limit', { memory: formats.memory(limit) });
  return (
    <div>
      <div className="flex text-2xs text-fg-3 tabular-nums">
        <span className="text-end" style={{ width: `${(limit / scale) * 100}%` }}>
          {limitText}
        </span>
      </div>
      <div
        role="img"
        aria-label={t('models.memoryOf', { needed: formats.memory(fit.total), limit: formats.memory(limit) })}
        className="relative mt-1 h-6.5"
      >
        <span className="flex h-full gap-px overflow-hidden rounded-md bg-hover">
          {PARTS.map((part) => (
            <span
              key={part}
              className={`block h-full ${colours[part]}`}
              style={{ width: `${(parts[part] / scale) * 100}%` }}
            />
          ))}
        </span>
        <span className="absolute -inset-y-1 w-px bg-fg" style={{ insetInlineStart: `${(limit / scale) * 100}%` }} />
      </div>
      <div className="mt-2.5 flex flex-wrap items-center gap-x-3.5 gap-y-1 text-xs text-fg-2 tabular-nums">
        {PARTS.map((part) => (
          <span key={part} className="flex items-center gap-1.5">
            <span className={`size-2 rounded-[2px] ${colours[part]}`} />
            {t(`models.part.${part}`)}
            <span className="font-medium text-fg">{formats.memory(parts[part])}</span>
          </span>
        ))}
        {note && <span className="ms-auto font-medium text-fg">{note}</span>}
      </div>
    </div>
  );
}
