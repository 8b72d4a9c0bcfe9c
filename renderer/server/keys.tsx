import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { failureOf, type ServerKey } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { sentenceOf } from '../sentences.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Field } from '../ui/field.tsx';
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';

export function Keys({ keys, onAdd }: { keys: readonly ServerKey[]; onAdd: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [revoking, setRevoking] = useState<ServerKey | null>(null);
  return (
    <section aria-label={t('server.keys')} className="@container min-w-0 px-5 pt-3.5 pb-3">
      <div className="flex items-center">
        <h2 className="text-xs text-fg-3">{t('server.keys')}</h2>
        <Button kind="link" className="-my-1.5 -me-2 ms-auto" onClick={onAdd}>
          {t('server.newKey')}
        </Button>
      </div>
      {keys.length === 0 && <p className="mt-1 text-fg-2">{t('server.noKeys')}</p>}
      <ul className="mt-1 max-h-28 overflow-y-auto">
        {keys.map((key) => (
          <li key={key.id} className="flex h-row items-center gap-2.5">
            <bdi className="truncate font-medium" title={key.name}>
              {key.name}
            </bdi>
            <span dir="ltr" className="font-mono text-xs whitespace-nowrap text-fg-3 @max-[28rem]:hidden">
              {key.hint}
            </span>
            <span className="ms-auto truncate text-xs text-fg-3 tabular-nums">
              {key.usedAt === null
                ? t('server.neverUsed')
                : t('server.usedAt', {
                    when: formats.when(key.usedAt, Date.now()),
                  })}
            </span>
            <Button
              kind="link"
              className="-me-2"
              aria-label={t('server.revokeOne', { name: key.name })}
              onClick={() => setRevoking(key)}
            >
              {t('server.revoke')}
            </Button>
          </li>
        ))}
      </ul>
      {revoking && (
        <ConfirmDialog
          title={t('server.revokeTitle', { name: revoking.name })}
          description={t('server.revokeAbout')}
          cancel={t('server.cancel')}
          action={t('server.revokeKey')}
          onConfirm={() => core.call('server.revokeKey', { id: revoking.id })}
          onClose={() => setRevoking(null)}
        />
      )}
    </section>
  );
}

/** Names a key, then shows it: only once, since only its hash is stored. */
export function NewKeyDialog({ first, onClose }: { first: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState(first ? t('server.firstKey') : '');
  const [made, setMade] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const make = async () => {
    if (name.trim() === '') return setProblem(t('server.nameMissing'));
    try {
      setMade((await core.call('server.addKey', { name })).key);
    } catch (error) {
      const failure = failureOf(error);
      setProblem(failure.code === 'conflict' ? t('server.nameTaken') : sentenceOf(failure));
    }
  };
  if (made !== null) {
    return (
      <Dialog
        open
        onClose={onClose}
        title={t('server.keyOf', { name: name.trim() })}
        description={t('server.keyOnce')}
        footer={
          <Button large kind="primary" className="ms-auto" data-suggested onClick={onClose}>
            {t('server.done')}
          </Button>
        }
      >
        <div className="flex items-center gap-2 rounded-md bg-code px-3.5 py-2.5 hairline-soft">
          <output dir="ltr" aria-label={t('server.key')} className="min-w-0 flex-1 font-mono text-mono wrap-anywhere">
            {made}
          </output>
          <CopyButton text={made} label={t('server.copyKey')} />
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('server.newKey')}
      description={t('server.newKeyAbout')}
      footer={
        <>
          <span className="flex-1" />
          <Button large onClick={onClose}>
            {t('server.cancel')}
          </Button>
          <Button large kind="primary" onClick={() => void make()}>
            {t('server.makeKey')}
          </Button>
        </>
      }
    >
      <Field
        large
        data-suggested
        aria-label={t('server.keyName')}
        placeholder={t('server.keyName')}
        maxLength={60}
        value={name}
        problem={problem}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && void make()}
      />
    </Dialog>
  );
}
