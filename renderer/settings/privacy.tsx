import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NetworkLogEntry } from '../../app/protocol/index.ts';
import { core, isMac } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { useMcp } from '../stores/mcp.ts';
import { useRemoteEngines } from '../stores/remote-engines.ts';
import { useSettings } from '../stores/settings.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Segmented } from '../ui/choice.tsx';
import { Card, SettingRow } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import attacks from './attacks.json';

const DAYS = 30;
const dayMs = 24 * 60 * 60 * 1000;

/** The promise, the switch that blocks the network, and the proof: which hosts Longhand contacted, and what was blocked. */
export function Privacy() {
  const { t } = useTranslation();
  const formats = useFormats();
  const { values, set } = useSettings();
  const entries = useNetworkLog();
  const { engines, load } = useRemoteEngines();
  useEffect(() => {
    load().catch(() => {});
  }, [load]);
  const remote = (engines ?? []).filter(({ here }) => !here);
  const refused = entries.filter((one) => !one.allowed);
  const allowed = entries.filter((one) => one.allowed);
  const bytes = allowed.reduce((sum, one) => sum + one.bytes, 0);
  const attempts = refused.reduce((sum, one) => sum + one.requestCount, 0);
  return (
    <section aria-label={t('settings.privacy')}>
      <div className="flex items-start gap-3">
        <Icon name="privacy" size={20} className="mt-0.5 flex-none text-ok-text" />
        <div>
          <h2 className="text-lg font-semibold tracking-tight">
            {remote.length > 0 ? t('privacy.remoteTitle') : isMac() ? t('status.privateMac') : t('status.private')}
          </h2>
          <p className="mt-0.5 text-fg-2">{t(remote.length > 0 ? 'privacy.aboutRemote' : 'privacy.about')}</p>
          {remote.length > 0 && (
            <p className="mt-1.5 font-medium text-warn-text">
              {t('privacy.remote', { names: remote.map(({ name, host }) => `${name} (${host})`).join(', ') })}
            </p>
          )}
          <RemoteTools />
        </div>
      </div>
      <Card className="mt-5">
        <SettingRow name={t('setting.privacy.network')} about={t('setting.privacy.networkAbout')}>
          <Segmented
            label={t('setting.privacy.network')}
            value={values.network}
            options={[
              { value: 'downloads', name: t('privacy.downloads') },
              { value: 'off', name: t('privacy.off') },
            ]}
            onChange={(network) => void set({ network })}
          />
        </SettingRow>
      </Card>
      <div className="mt-8 flex items-center gap-2">
        <h3 className="font-semibold">{t('setting.privacy.refused')}</h3>
        <span className="text-fg-2 tabular-nums">{t('privacy.times', { count: attempts, days: DAYS })}</span>
        <Button className="ms-auto" disabled={entries.length === 0} onClick={() => exportNetworkLog(entries)}>
          {t('privacy.export')}
        </Button>
      </div>
      <Table entries={refused} empty={t('privacy.nothingRefused')} last={(one) => formats.exact(one.requestCount)} />
      <div className="mt-8 flex items-center gap-2">
        <h3 className="font-semibold">{t('setting.privacy.allowed')}</h3>
        <span className="text-fg-2 tabular-nums">
          {t('privacy.bytes', { size: formats.fileSize(bytes), days: DAYS })}
        </span>
      </div>
      <Table entries={allowed} empty={t('privacy.nobodyAsked')} last={(one) => formats.fileSize(one.bytes)} />
      <AllowedSites />
      <h3 className="mt-8 font-semibold">{t('setting.privacy.attacks')}</h3>
      <p className="mt-0.5 text-fg-2">
        {t('privacy.attacks', {
          kinds: formats.exact(attacks.kinds),
          tried: formats.exact(attacks.tried),
          refused: formats.exact(attacks.refused),
        })}
      </p>
    </section>
  );
}

/** Besides remote engines, the only way in which text of a chat leaves this computer: after asking each time, or as
 *  allowed. */
function RemoteTools() {
  const { t } = useTranslation();
  const { servers, load } = useMcp();
  useEffect(() => {
    load().catch(() => {});
  }, [load]);
  const remote = (servers ?? []).filter((server) => server.remote);
  if (remote.length === 0) return null;
  const names = remote.map(({ name, target }) => `${name} (${new URL(target).host})`).join(', ');
  return <p className="mt-1.5 font-medium text-warn-text">{t('privacy.remoteTools', { names })}</p>;
}

/** Sites that were allowed permanently; hidden if there are none. */
function AllowedSites() {
  const { t } = useTranslation();
  const [hosts, setHosts] = useState<string[]>([]);
  useEffect(() => void core.call('tools.pageHosts').then(setHosts, () => {}), []);
  if (hosts.length === 0) return null;
  const forget = async (host: string) => {
    await core.call('tools.forgetPageHost', { host });
    setHosts(await core.call('tools.pageHosts'));
  };
  return (
    <>
      <h3 className="mt-8 font-semibold">{t('setting.privacy.sites')}</h3>
      <p className="mt-0.5 text-fg-2">{t('privacy.sites')}</p>
      <Card className="mt-2.5">
        <ul>
          {hosts.map((host) => (
            <li
              key={host}
              className="flex min-h-10 items-center gap-3 px-4 py-1 not-first:border-t not-first:border-line"
            >
              <bdi className="min-w-0 flex-1 truncate font-medium">{host}</bdi>
              <IconButton
                small
                icon="close"
                label={t('privacy.forgetSite', { host })}
                onClick={() => void forget(host)}
              />
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}

function useNetworkLog(): NetworkLogEntry[] {
  const [entries, setContacts] = useState<NetworkLogEntry[]>([]);
  useEffect(() => {
    const load = () => void core.call('privacy.networkLog').then(setContacts, () => {}); // asked again at the next change
    load();
    return core.on('networkLog.changed', load);
  }, []);
  return entries.filter(({ at }) => at > Date.now() - DAYS * dayMs);
}

type TableProps = { entries: readonly NetworkLogEntry[]; empty: string; last: (entry: NetworkLogEntry) => string };

function Table({ entries, empty, last }: TableProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const columns =
    'grid grid-cols-[8.5rem_minmax(0,1fr)_4.5rem] gap-3 px-4 max-md:grid-cols-[5.5rem_minmax(0,1fr)_4.5rem]';
  return (
    <Card className="mt-2.5">
      {entries.length === 0 ? (
        <p className="px-4 py-3 text-fg-2">{empty}</p>
      ) : (
        <ul>
          {entries.map((one) => (
            <li
              key={`${one.at} ${one.host} ${one.reason} ${one.about}`}
              className={`${columns} min-h-10 items-center py-2 not-first:border-t not-first:border-line`}
            >
              <span className="text-fg-2 tabular-nums">{`${formats.day(one.at)} ${formats.clock(one.at)}`}</span>
              <span className="flex min-w-0 flex-col">
                <bdi className="truncate font-medium" title={one.about}>
                  {one.about === ''
                    ? t(`privacy.reason.${one.reason}`)
                    : t('privacy.of', { reason: t(`privacy.reason.${one.reason}`), about: one.about })}
                </bdi>
                <bdi className="truncate text-xs text-fg-2" title={one.host}>
                  {one.host}
                </bdi>
              </span>
              <span className="text-end tabular-nums">{last(one)}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function exportNetworkLog(entries: readonly NetworkLogEntry[]): void {
  const address = URL.createObjectURL(new Blob([JSON.stringify(entries, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = 'longhand-privacy.json';
  link.click();
  URL.revokeObjectURL(address);
}
