import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import type { Full } from './overflow-options.ts';

/** Chat, message and excess to scale, with a line where the context ends. */
export function OverflowBar({ full }: { full: Full }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { used, draft, limit } = full;
  const needed = used + draft;
  const chat = Math.min(used, limit);
  const parts = [
    { name: t('overflow.chat', { tokens: formats.tokens(used) }), share: chat, color: 'bg-edge' },
    { name: t('overflow.message', { tokens: formats.tokens(draft) }), share: limit - chat, color: 'bg-ink' },
    {
      name: t('overflow.over', { tokens: formats.tokens(Math.max(0, needed - limit)) }),
      share: Math.max(0, needed - limit),
      color: 'bg-bad',
    },
  ].filter(({ share }) => share > 0);
  const at = `${Math.min(1, limit / Math.max(1, needed)) * 100}%`;
  return (
    <div className="relative pt-5 tabular-nums">
      <span
        aria-hidden
        className="absolute top-0 -translate-x-1/2 text-xs text-fg-2 rtl:translate-x-1/2"
        style={{ insetInlineStart: `clamp(1rem, ${at}, 100% - 1rem)` }}
      >
        {formats.contextSize(limit)}
      </span>
      <div aria-hidden className="flex h-3.5 gap-0.5 overflow-hidden rounded-xs">
        {parts.map((part) => (
          <span key={part.color} className={part.color} style={{ flexGrow: part.share }} />
        ))}
      </div>
      <span aria-hidden className="absolute top-4 h-6 border-s-[1.5px] border-fg" style={{ insetInlineStart: at }} />
      <div className="mt-2 flex flex-wrap gap-x-4 text-xs text-fg-2">
        {parts.map((part) => (
          <span key={part.color} className="inline-flex items-center gap-1.5">
            <span className={`h-2.5 w-3 rounded-[2px] ${part.color}`} />
            {part.name}
          </span>
        ))}
      </div>
    </div>
  );
}
