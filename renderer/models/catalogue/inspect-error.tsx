import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Failure } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { Details } from '../../parts/problem.tsx';
import { sentenceOf } from '../../sentences.ts';
import { useSettings } from '../../stores/settings.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';

/** Why a repository could not be read, and what to do: enter a token for a gated one, retry otherwise. */
export function InspectError({ failure, onAgain }: { failure: Failure; onAgain: () => void }) {
  const { t } = useTranslation();
  const gated = failure.details?.reason === 'gated';
  return (
    <div className="mt-5">
      <Notice
        alert
        tone="warn"
        title={gated ? t('models.needsToken') : t('models.inspectFailed')}
        actions={!gated && <Button onClick={onAgain}>{t('failure.tryAgain')}</Button>}
      >
        {gated ? <Token onKept={onAgain} /> : sentenceOf(failure)}
        {!gated && <Details text={failure.message} />}
      </Notice>
    </div>
  );
}

function Token({ onKept }: { onKept: () => void }) {
  const { t } = useTranslation();
  const mirror = useSettings((state) => state.values.hubEndpoint);
  const [token, setToken] = useState('');
  const [storedIn, setStoredIn] = useState<'keychain' | 'file'>('file');
  useEffect(() => void core.call('tokens.list').then((list) => setStoredIn(list.storedIn)), []);
  const keep = async (event: FormEvent) => {
    event.preventDefault();
    await core.call('tokens.set', { source: mirror === null ? 'huggingface' : 'mirror', token });
    setToken('');
    onKept();
  };
  return (
    <form onSubmit={(event) => void keep(event)} className="mt-2">
      <p>
        {t('models.tokenAbout')} {t(`secrets.storedIn.${storedIn}`)}
      </p>
      <div className="mt-2 flex gap-2">
        <Field
          type="password"
          autoComplete="off"
          aria-label={t('models.token')}
          placeholder={t('models.token')}
          value={token}
          onChange={(event) => setToken(event.target.value)}
          className="min-w-0 flex-1"
        />
        <Button type="submit" disabled={token.trim() === ''}>
          {t('models.useToken')}
        </Button>
      </div>
    </form>
  );
}
