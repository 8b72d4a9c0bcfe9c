import { useTranslation } from 'react-i18next';
import { deviceInUse } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { useEngine } from '../stores/engine.ts';
import { useSettings } from '../stores/settings.ts';
import { Icon } from '../ui/icon.tsx';

/** The device that is used and the processor. The line's space is reserved before they are known. */
export function Machine() {
  const { t } = useTranslation();
  const formats = useFormats();
  const all = useEngine((state) => state.devices);
  const used = deviceInUse(
    all,
    useSettings((state) => state.values.device),
  );
  const devices = all.filter((device) => device.available && (device === used || device.backEnd === 'cpu'));
  const facts = devices.map((device) =>
    device.memoryBytes > 0
      ? t('onboarding.device', { name: device.name, memory: formats.memory(device.memoryBytes) })
      : device.name,
  );
  return (
    <p className="mt-7 flex min-h-4 items-center gap-2 text-xs text-fg-3 tabular-nums">
      {facts.length > 0 && <Icon name="engine" size={14} />}
      {facts.join(' · ')}
    </p>
  );
}
