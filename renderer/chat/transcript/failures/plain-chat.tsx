import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ChatId } from '../../../../app/protocol/index.ts';
import { Button } from '../../../ui/button.tsx';
import { PlainProvider } from '../../../ui/markdown/plain-context.ts';
import { Notice } from '../../../ui/notice.tsx';
import { beginDrawing, drawAgain } from './crash-guard.ts';

/** A chat that crashed the page twice is shown as plain text, with a notice. `children` are rendered again on a retry. */
export function PlainAfterCrashes({ chatId, children }: { chatId: ChatId; children: ReactNode }) {
  const { t } = useTranslation();
  const [drawing, setDrawing] = useState(() => beginDrawing(chatId));
  useEffect(() => drawing.stop, [drawing]);
  const again = () => {
    drawAgain(chatId);
    setDrawing(beginDrawing(chatId));
  };
  return (
    <PlainProvider value={drawing.plain}>
      {drawing.plain && (
        <div className="mx-auto w-full max-w-[calc(var(--container-read)+3rem)] flex-none px-6 pb-2">
          <Notice tone="warn" title={t('plain.title')} actions={<Button onClick={again}>{t('plain.again')}</Button>}>
            {t('plain.about')}
          </Notice>
        </div>
      )}
      {children}
    </PlainProvider>
  );
}
