import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../../app/protocol/index.ts';
import { CopyDetails } from '../../../parts/error-boundaries.tsx';
import { Boundary, type Broken } from '../../../ui/boundary.tsx';
import { Button } from '../../../ui/button.tsx';
import { Raw } from '../../../ui/markdown/inline-markdown.tsx';
import { Notice } from '../../../ui/notice.tsx';

/** A message that cannot be rendered does not affect others: its plain text is shown, also while it grows. */
export function MessageBoundary({ message, children }: { message: Message; children: ReactNode }) {
  return (
    <Boundary
      subject={`${message.id} ${message.state.status}`}
      fallback={(broken) => <BrokenMessage message={message} broken={broken} />}
    >
      {children}
    </Boundary>
  );
}

function BrokenMessage({ message, broken }: { message: Message; broken: Broken }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-3">
      <Notice
        tone="warn"
        title={t('broken.message')}
        actions={
          <>
            <Button onClick={broken.again}>{t('broken.again')}</Button>
            <CopyDetails broken={broken} />
          </>
        }
      >
        {t('broken.plain')}
      </Notice>
      <div dir="auto" className="prose">
        <Raw text={message.text} />
      </div>
    </div>
  );
}
