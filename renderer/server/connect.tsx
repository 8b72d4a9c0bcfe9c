import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../ui/button.tsx';
import { Segmented } from '../ui/choice.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { type ClientName, clients, linesFor, nameOfClient } from './client-lines.ts';

/** A placeholder that the user replaces, like KEY. */
const MODEL = 'MODEL';

export function ConnectDialog({ port, onClose }: { port: number; onClose: () => void }) {
  const { t } = useTranslation();
  const [client, setClient] = useState<ClientName>('curl');
  const lines = linesFor(client, `http://127.0.0.1:${port}`, MODEL);
  return (
    <Dialog
      open
      onClose={onClose}
      width={600}
      title={t('server.connect')}
      description={t('server.connectAbout')}
      footer={
        <Button large kind="primary" className="ms-auto" data-suggested onClick={onClose}>
          {t('server.done')}
        </Button>
      }
    >
      <Segmented
        label={t('server.client')}
        value={client}
        options={clients.map((value) => ({ value, name: nameOfClient[value] }))}
        onChange={setClient}
      />
      <div className="relative mt-3 rounded-md bg-code hairline-soft">
        <pre dir="ltr" className="min-h-44 overflow-x-auto px-3.5 py-3 pe-10 font-mono text-xs leading-5">
          {lines}
        </pre>
        <CopyButton text={lines} label={t('server.copyLines')} className="absolute end-2 top-2" />
      </div>
      <p className="mt-2.5 text-xs text-fg-3">{t(`server.where.${client}`)}</p>
    </Dialog>
  );
}
