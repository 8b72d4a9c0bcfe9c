import { useTranslation } from 'react-i18next';
import { hubOf } from '../../stores/models/hub.ts';
import { useSettings } from '../../stores/settings.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { agree, useFetching, withdraw } from '../downloads/fetch-model.ts';

/** Shown once, before the first download: which server is contacted and what is sent. */
export function Consent() {
  const { t } = useTranslation();
  const consent = useFetching((state) => state.consent);
  const hub = hubOf(useSettings((state) => state.values.hubEndpoint));
  return (
    <Dialog
      open={consent !== null}
      onClose={withdraw}
      title={t('models.ask.title', { hub })}
      description={t('models.ask.about')}
      width={440}
      footer={
        <>
          <span className="flex-1" />
          <Button large onClick={withdraw}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" data-suggested onClick={() => void agree().catch(() => {})}>
            {t('models.ask.yes')}
          </Button>
        </>
      }
    />
  );
}
