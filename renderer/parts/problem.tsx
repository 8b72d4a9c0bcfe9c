import { useTranslation } from 'react-i18next';
import type { Failure } from '../../app/protocol/index.ts';
import { sentenceOf } from '../sentences.ts';

/** A failure as a sentence; the original message is under Details. */
export function Problem({ failure, className = '' }: { failure: Failure; className?: string }) {
  return (
    <div role="alert" className={`text-xs wrap-anywhere ${className}`}>
      <p className="text-bad-text">{sentenceOf(failure)}</p>
      <Details text={failure.message} />
    </div>
  );
}

export function Details({ text }: { text: string }) {
  const { t } = useTranslation();
  return (
    <details className="mt-0.5 text-fg-3">
      <summary className="cursor-pointer">{t('details')}</summary>
      <p dir="ltr" className="mt-0.5 text-start select-text wrap-anywhere">
        {text}
      </p>
    </details>
  );
}
