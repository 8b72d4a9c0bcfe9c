import { useTranslation } from 'react-i18next';
import { useFormats } from '../i18n.ts';
import { useEngine } from '../shell/engine.ts';
import { Icon } from '../ui/icon.tsx';

/** What this computer computes on. */
export function Machine() {
  const { t } = useTranslation();
  const formats = useFormats();
  const devices = useEngine((state) => state.devices).filter((device) => device.available);
  if (devices.length === 0) return null;
  const facts = devices.map((device) =>
    device.memoryBytes > 0
      ? t('onboarding.device', { name: device.name, memory: formats.memory(device.memoryBytes) })
      : device.name,
  );
  return (
    <p className="mt-7 flex items-center gap-2 text-xs text-fg-3 tabular-nums">
      <Icon name="engine" size={14} />
      {facts.join(' · ')}
    </p>
  );
}
