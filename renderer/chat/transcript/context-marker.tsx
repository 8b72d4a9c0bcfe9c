import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../app/protocol/index.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { excludeFromContext, includeInContext } from '../overflow/overflow-actions.ts';

/** Below the last message excluded from the context: its summary, and undo. */
export function ContextMarker({ message }: { message: Message }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const { contextCutoff } = message;
  if (!contextCutoff) return null;
  const { restored, summary } = contextCutoff;
  const said = restored
    ? t('contextCutoff.back')
    : summary === null
      ? t('contextCutoff.marker')
      : t('contextCutoff.summary');
  return (
    <div className="pt-5 text-xs text-fg-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span aria-hidden className="h-px min-w-4 flex-1 bg-line-strong" />
        <Icon name={restored ? 'rewind' : 'fold'} size={14} />
        <span>{said}</span>
        {summary !== null && !restored && (
          <Button kind="link" className="text-xs" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t('contextCutoff.hide') : t('contextCutoff.show')}
          </Button>
        )}
        <Button
          kind="link"
          className="text-xs"
          onClick={() => void (restored ? excludeFromContext(message.id, summary) : includeInContext(message.id))}
        >
          {restored ? t('contextCutoff.again') : t('contextCutoff.bringBack')}
        </Button>
        <span aria-hidden className="h-px min-w-4 flex-1 bg-line-strong" />
      </div>
      {open && summary !== null && !restored && (
        <p className="mt-2 rounded-md bg-sunken px-3.5 py-2.5 text-sm whitespace-pre-wrap text-fg-2">{summary}</p>
      )}
    </div>
  );
}
