import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Failure } from '../../app/protocol/index.ts';
import { Details } from '../parts/problem.tsx';
import { sentenceOf } from '../sentences.ts';
import type { Mark } from '../stores/documents/state.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { piecesOf } from './marks.ts';

const Around = ({ children }: { children: ReactNode }) => (
  <div className="min-h-0 flex-1 overflow-y-auto bg-sunken p-5">
    <div className="mx-auto max-w-130">{children}</div>
  </div>
);

/** The stored copy is unchanged: a locked file asks for its password here too. The password is not stored. */
export function Locked({ wrong, onPassword }: { wrong: boolean; onPassword: (password: string) => void }) {
  const { t } = useTranslation();
  const [password, setPassword] = useState('');
  const open = (event: FormEvent) => {
    event.preventDefault();
    onPassword(password);
  };
  return (
    <Around>
      <Notice tone="warn" title={t('documents.locked')}>
        <form onSubmit={open} className="mt-2 flex items-start gap-2">
          <Field
            type="password"
            autoComplete="off"
            aria-label={t('documents.password')}
            placeholder={t('documents.password')}
            value={password}
            problem={wrong ? t('documents.wrongPassword') : null}
            onChange={(event) => setPassword(event.target.value)}
            className="min-w-0 flex-1"
          />
          <Button type="submit" disabled={password === ''}>
            {t('documents.unlock')}
          </Button>
        </form>
      </Notice>
    </Around>
  );
}

export function ViewFailed({ failure }: { failure: Failure }) {
  const { t } = useTranslation();
  return (
    <Around>
      <Notice tone="bad" title={t('documents.cannotShow')}>
        {sentenceOf(failure)}
        <Details text={failure.message} />
      </Notice>
    </Around>
  );
}

/** For a deleted document: shows the text stored with the answer, and why there is no more. */
export function StoredText({ mark, reason }: { mark: Mark; reason: string }) {
  const { t } = useTranslation();
  const ranges = mark.evidence.length > 0 ? mark.evidence : [[0, mark.text.length] as const];
  const evidence = ranges.map(([start, end]) => ({ start, end, strength: 'current' as const }));
  return (
    <Around>
      <p className="mb-3 text-fg-2">{reason}</p>
      <blockquote
        className="paper px-8 py-7 font-serif text-base whitespace-pre-wrap text-page-fg"
        aria-label={t('documents.storedText')}
      >
        {piecesOf(mark.text, evidence).map((piece, index) =>
          piece.strength ? (
            <mark key={index} className="bg-page-marker text-page-fg">
              {piece.text}
            </mark>
          ) : (
            <span key={index}>{piece.text}</span>
          ),
        )}
      </blockquote>
    </Around>
  );
}
