import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { Button } from '../../ui/button.tsx';

/** How many tokens of the prompt were read and how many were cached; on a click, why. */
export function ReadTokens({ usage }: Pick<Message, 'usage'>) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [open, setOpen] = useState(false);
  const reasons = useId();
  const fresh = usage ? Math.max(0, usage.promptTokens - usage.cachedTokens) : 0;
  const line = t('speed.read', { fresh: formats.exact(fresh), cached: formats.exact(usage?.cachedTokens ?? 0) });
  if (!usage) return line;
  const { miss, differs } = usage;
  return (
    <>
      {line}{' '}
      <Button
        kind="link"
        className="text-xs"
        aria-expanded={open}
        {...(open && { 'aria-controls': reasons })}
        onClick={() => setOpen(!open)}
      >
        {t('speed.why')}
      </Button>
      {open && (
        <div id={reasons} className="mt-1 max-w-72 whitespace-normal">
          {differs && (
            <p>{t('speed.whyDiffers', { token: formats.exact(differs.token + 1), text: differs.text.trim() })}</p>
          )}
          {miss && <p>{t(`speed.miss.${miss.reason}`, { tokens: formats.exact(miss.tokens) })}</p>}
          {!differs && !miss && <p>{t('speed.whyNew')}</p>}
        </div>
      )}
    </>
  );
}
