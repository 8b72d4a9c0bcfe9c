import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { originOf } from '../../app/protocol/index.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/choice.tsx';
import { Field, NumberField, SettingRow } from '../ui/field.tsx';
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';

const PORTS = { min: 1024, max: 65_535, step: 1 };

/** The port is applied with the button, not with every digit, since each change restarts the server. */
export function OptionsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const [port, setPort] = useState<number | undefined>(values.serverPort);
  const [inspector, setInspector] = useState(values.serverInspector);
  const [pages, setPages] = useState(values.serverOrigins.join(' '));
  const [network, setNetwork] = useState(values.serverNetwork);
  const [networkPort, setNetworkPort] = useState<number | undefined>(values.serverNetworkPort);
  const [certificate, setCertificate] = useState(values.serverCertificate?.certificate ?? '');
  const [key, setKey] = useState(values.serverCertificate?.key ?? '');
  const [asking, setAsking] = useState(false);
  const halfOwn = (certificate.trim() === '') !== (key.trim() === '');
  const own = certificate.trim() === '' ? null : { certificate: certificate.trim(), key: key.trim() };
  const origins = pages.split(/[\s,]+/).flatMap((page) => (page === '' ? [] : [{ page, origin: originOf(page) }]));
  const wrongPage = origins.find(({ origin }) => origin === null)?.page;
  const save = async () => {
    await set({
      serverPort: port ?? values.serverPort,
      serverInspector: inspector,
      serverOrigins: [...new Set(origins.flatMap(({ origin }) => origin ?? []))],
      serverNetwork: network,
      serverNetworkPort: networkPort ?? values.serverNetworkPort,
      serverCertificate: own,
    });
    onClose();
  };
  if (asking) {
    return (
      <ConfirmDialog
        title={t('server.network.confirmTitle')}
        description={t('server.network.confirmAbout')}
        cancel={t('server.cancel')}
        action={t('server.network.confirm')}
        onConfirm={save}
        onClose={() => setAsking(false)}
      />
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('server.optionsTitle')}
      footer={
        <>
          <span className="flex-1" />
          <Button large onClick={onClose}>
            {t('server.cancel')}
          </Button>
          <Button
            large
            kind="primary"
            data-suggested
            disabled={wrongPage !== undefined || (network && halfOwn)}
            onClick={() => (network && !values.serverNetwork ? setAsking(true) : void save())}
          >
            {t('server.save')}
          </Button>
        </>
      }
    >
      <div className="-mx-4">
        <SettingRow name={t('server.port')} about={t('server.portAbout')}>
          <NumberField
            label={t('server.port')}
            {...PORTS}
            value={port}
            placeholder={String(values.serverPort)}
            problem={t('server.portWrong')}
            onChange={setPort}
          />
        </SettingRow>
        <SettingRow name={t('server.inspector')} about={t('server.inspectorAbout')}>
          <Switch label={t('server.inspector')} checked={inspector} onChange={setInspector} />
        </SettingRow>
        <SettingRow name={t('server.pages')} about={t('server.pagesAbout')} />
        <div className="px-4 pb-2">
          <Field
            dir="ltr"
            aria-label={t('server.pages')}
            placeholder={t('server.pagesExample')}
            maxLength={2000}
            value={pages}
            problem={wrongPage === undefined ? null : t('server.pageWrong', { page: wrongPage })}
            onChange={(event) => setPages(event.target.value)}
          />
        </div>
        <SettingRow name={t('server.network.option')} about={t('server.network.optionAbout')}>
          <Switch label={t('server.network.option')} checked={network} onChange={setNetwork} />
        </SettingRow>
        {network && (
          <>
            <SettingRow name={t('server.network.port')}>
              <NumberField
                label={t('server.network.port')}
                {...PORTS}
                value={networkPort}
                placeholder={String(values.serverNetworkPort)}
                problem={t('server.portWrong')}
                onChange={setNetworkPort}
              />
            </SettingRow>
            <SettingRow name={t('server.network.own')} about={t('server.network.ownAbout')} />
            <div className="flex flex-col gap-2 px-4 pb-2">
              <Field
                dir="ltr"
                aria-label={t('server.network.certificate')}
                placeholder={t('server.network.certificate')}
                value={certificate}
                onChange={(event) => setCertificate(event.target.value)}
              />
              <Field
                dir="ltr"
                aria-label={t('server.network.key')}
                placeholder={t('server.network.key')}
                value={key}
                problem={halfOwn ? t('server.network.both') : null}
                onChange={(event) => setKey(event.target.value)}
              />
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
