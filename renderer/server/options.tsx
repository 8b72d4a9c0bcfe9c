import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/choice.tsx';
import { NumberField, SettingRow } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';

const PORTS = { min: 1024, max: 65_535, step: 1 };

/** The port is applied with the button, not with every digit, since each change restarts the server. */
export function OptionsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const [port, setPort] = useState<number | undefined>(values.serverPort);
  const [inspector, setInspector] = useState(values.serverInspector);
  const save = () => {
    void set({
      serverPort: port ?? values.serverPort,
      serverInspector: inspector,
    });
    onClose();
  };
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
          <Button large kind="primary" data-suggested onClick={save}>
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
      </div>
    </Dialog>
  );
}
