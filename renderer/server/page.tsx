import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ServerState } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { Details } from '../parts/problem.tsx';
import { SidebarButtons } from '../parts/sidebar-buttons.tsx';
import { useServer } from '../stores/server.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/choice.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Notice } from '../ui/notice.tsx';
import { ConnectDialog } from './connect.tsx';
import { Keys, NewKeyDialog } from './keys.tsx';
import { NetworkAddress } from './network-address.tsx';
import { OptionsDialog } from './options.tsx';
import { RequestDetails } from './request-details.tsx';
import { Requests } from './requests.tsx';

type Asked = 'none' | 'key' | 'connect' | 'options';

export function ServerPage() {
  const { t } = useTranslation();
  const { state, keys, requests, chosen } = useServer();
  const { values, set } = useSettings();
  const [asked, setAsked] = useState<Asked>('none');
  const request = requests.find(({ id }) => id === chosen);
  const close = () => setAsked('none');
  const turn = (serverOn: boolean) => {
    void set({ serverOn });
    // No client can connect without one.
    if (serverOn && keys.length === 0) setAsked('key');
  };
  return (
    <div className="flex h-full min-w-0">
      <main className={`flex min-w-0 flex-1 flex-col ${request ? 'max-lg:hidden' : ''}`}>
        <header className="drag-region flex h-bar flex-none items-center gap-2.5 border-b border-line ps-5 pe-3">
          <SidebarButtons />
          <h1 className="font-semibold">{t('server.title')}</h1>
          <span className="no-drag flex items-center">
            <Switch label={t('server.switch')} checked={values.serverOn} onChange={turn} />
          </span>
          <StateLine state={state} />
          <span className="flex-1" />
          <span className="no-drag flex items-center gap-1">
            <Button kind="quiet" icon="code" onClick={() => setAsked('connect')}>
              {t('server.connect')}
            </Button>
            <Button kind="quiet" icon="sampling" onClick={() => setAsked('options')}>
              {t('server.options')}
            </Button>
          </span>
        </header>
        <Trouble state={state} />
        <div className="grid flex-none border-b border-line md:grid-cols-2">
          <Address state={state} port={values.serverPort} />
          <Keys keys={keys} onAdd={() => setAsked('key')} />
        </div>
        <Requests onConnect={() => setAsked('connect')} />
      </main>
      {request && <RequestDetails request={request} onClose={() => useServer.setState({ chosen: null })} />}
      {asked === 'key' && <NewKeyDialog first={keys.length === 0} onClose={close} />}
      {asked === 'connect' && <ConnectDialog port={values.serverPort} onClose={close} />}
      {asked === 'options' && <OptionsDialog onClose={close} />}
    </div>
  );
}

function StateLine({ state }: { state: ServerState }) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <span role="status" className="truncate text-fg-2 tabular-nums">
      {state.phase === 'on'
        ? t('server.onSince', { when: formats.clock(state.since) })
        : t(`server.phase.${state.phase}`)}
    </span>
  );
}

/** Why it cannot listen, in a sentence, and what to do. */
function Trouble({ state }: { state: ServerState }) {
  const { t } = useTranslation();
  if (state.phase !== 'failed') return null;
  const { port, free, reason } = state;
  const move = () => free !== null && void useSettings.getState().set({ serverPort: free });
  return (
    <div className="flex-none p-4">
      <Notice
        alert
        tone="bad"
        title={t(`server.failed.${reason}`, { port })}
        actions={
          <>
            {free !== null && (
              <Button kind="primary" onClick={move}>
                {t('server.usePort', { port: free })}
              </Button>
            )}
            <Button onClick={() => void core.call('server.retry')}>{t('server.retry')}</Button>
          </>
        }
      >
        {t('server.nothingServed')}
        {reason === 'other' && <Details text={state.message} />}
      </Notice>
    </div>
  );
}

function Address({ state, port }: { state: ServerState; port: number }) {
  const { t } = useTranslation();
  const address = `${state.phase === 'on' ? state.address : `http://127.0.0.1:${port}`}/v1`;
  return (
    <section
      aria-label={t('server.address')}
      className="min-w-0 px-5 pt-3.5 pb-4 max-md:border-b md:border-e border-line"
    >
      <h2 className="text-xs text-fg-3">{t('server.address')}</h2>
      <div className="mt-1 flex h-6 items-center gap-1">
        <span dir="ltr" className={`truncate font-mono text-md font-medium ${state.phase === 'on' ? '' : 'text-fg-3'}`}>
          {address}
        </span>
        <CopyButton text={address} label={t('server.copyAddress')} />
      </div>
      <p className="mt-1 text-xs text-fg-3">{t('server.addressAbout')}</p>
      {state.phase === 'on' && <NetworkAddress network={state.network} />}
    </section>
  );
}
