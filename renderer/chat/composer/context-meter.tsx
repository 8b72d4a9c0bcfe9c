import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import { useShell } from '../../stores/shell.ts';
import { Meter, resourceParts } from '../../ui/meter.tsx';
import { Popover, PopoverLine } from '../../ui/overlays/popover.tsx';
import type { Measured } from './use-context-usage.ts';

/** How full the context is, with what the draft would add. Opens into its parts. */
export function ContextMeter({ measured }: { measured: Measured | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const go = useShell((state) => state.go);
  if (!measured) return null;
  const { used, draft, limit } = measured;
  const full = formats.tokens(used + draft);
  const size = formats.contextSize(limit);
  const label = t('gauge.label', { used: full, limit: size });
  const parts = resourceParts(used, draft, limit);
  return (
    <Popover
      label={t('gauge.title')}
      width={264}
      align="end"
      trigger={
        <button
          type="button"
          aria-label={label}
          className="inline-flex h-row items-center gap-2 rounded-sm px-1.5 text-xs whitespace-nowrap text-fg-3 tabular-nums hover:bg-hover data-[state=open]:bg-select"
        >
          <Meter parts={parts} label={label} className="h-1.25 w-14 @max-[28rem]:hidden" />
          <span>
            <span className="max-lg:hidden">{label}</span>
            <span className="lg:hidden">{full}</span>
          </span>
        </button>
      }
    >
      <div className="px-2.5 pt-2.25 pb-2 tabular-nums">
        <div className="flex items-center">
          <h2 className="font-semibold">{t('gauge.title')}</h2>
          <span className="ms-auto text-fg-2">{label}</span>
        </div>
        <Meter parts={parts} label={label} className="my-2.5 h-2" />
        <dl className="flex flex-col gap-1.25 text-fg-2">
          <div className="flex">
            <dt>{t('gauge.chat')}</dt>
            <dd className="ms-auto">{formats.exact(used)}</dd>
          </div>
          <div className="flex text-ink-text">
            <dt>{t('gauge.message')}</dt>
            <dd className="ms-auto">+{formats.exact(draft)}</dd>
          </div>
        </dl>
      </div>
      <PopoverLine />
      <button
        type="button"
        className="flex min-h-row w-full items-center rounded-sm px-2.5 ring-inset-focus hover:bg-hover"
        onClick={() => go({ kind: 'settings', section: 'engine' })}
      >
        {t('gauge.change')}
      </button>
    </Popover>
  );
}
