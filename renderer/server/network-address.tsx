import { useTranslation } from 'react-i18next';
import type { NetworkState } from '../../app/protocol/index.ts';
import { Details } from '../parts/problem.tsx';
import { CopyButton } from '../ui/copy-button.tsx';

/** Where other devices reach the server, and what they have to trust; or why they cannot. */
export function NetworkAddress({ network }: { network: NetworkState }) {
  const { t } = useTranslation();
  if (network.status === 'off') return null;
  if (network.status === 'failed') {
    const { reason, port, message } = network;
    return (
      <div role="alert" className="mt-2.5 text-xs text-bad-text">
        {t(`server.network.failed.${reason}`, { port })}
        {reason !== 'taken' && <Details text={message} />}
      </div>
    );
  }
  const { addresses, fingerprint, certificate } = network;
  return (
    <div className="mt-3">
      <h2 className="text-xs text-fg-3">{t('server.network.address')}</h2>
      <ul className="max-h-24 overflow-y-auto">
        {addresses.map((address) => (
          <li key={address} className="flex h-6 items-center gap-1">
            <span dir="ltr" className="truncate font-mono text-mono font-medium">
              {address}/v1
            </span>
            <CopyButton text={`${address}/v1`} label={t('server.network.copy')} />
          </li>
        ))}
      </ul>
      <div className="mt-1 flex items-center gap-1">
        <span dir="ltr" className="min-w-0 truncate font-mono text-xs text-fg-3" title={fingerprint}>
          {t('server.network.fingerprint', { fingerprint })}
        </span>
        <CopyButton text={certificate} label={t('server.network.copyCertificate')} />
      </div>
      <p className="text-xs text-fg-3">{t('server.network.trust')}</p>
    </div>
  );
}
