import { useTranslation } from 'react-i18next';
import type { Settings } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useBackEndName, useFormats } from '../i18n.ts';
import { versionOf } from '../lib/version.ts';
import { modelById, useEngine } from '../stores/engine.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Segmented, Select, Switch, Tag } from '../ui/choice.tsx';
import { NumberField, SettingRow } from '../ui/field.tsx';
import { PromptCache } from './prompt-cache.tsx';
import { Section } from './section.tsx';

const BEST = 'best';

export function Engine() {
  const { t } = useTranslation();
  const formats = useFormats();
  const nameOf = useBackEndName();
  const { values, set } = useSettings();
  const { devices, status, models, info } = useEngine();
  const options = [
    { value: BEST, name: t('engine.best') },
    ...devices
      .filter((device) => device.available)
      .map((device) => ({ value: device.id, name: `${device.name} (${t(`backEnd.${device.backEnd}`)})` })),
  ];
  const inMemory = status.phase === 'ready' || status.phase === 'busy' ? modelById(models, status.modelId) : null;
  return (
    <>
      <Section title={t('settings.engine')}>
        <SettingRow name={t('setting.engine.state')} about={about()}>
          {inMemory && (
            <Button disabled={status.phase === 'busy'} onClick={() => void core.call('models.unload')}>
              {t('engine.unload')}
            </Button>
          )}
          <Button onClick={() => void core.call('engine.restart')}>{t('engine.restart')}</Button>
        </SettingRow>
        <SettingRow name={t('setting.engine.device')} about={t('setting.engine.deviceAbout')}>
          <Select
            label={t('setting.engine.device')}
            width={220}
            value={values.device ?? BEST}
            options={options}
            onChange={(id) => void set({ device: id === BEST ? null : id })}
          />
        </SettingRow>
        <SettingRow name={t('setting.engine.threads')} about={t('setting.engine.threadsAbout')}>
          <NumberField
            label={t('setting.engine.threads')}
            value={values.threads ?? undefined}
            min={1}
            max={256}
            step={1}
            placeholder={t('engine.automatic')}
            problem={t('sampling.range', { min: 1, max: 256 })}
            onChange={(threads) => void set({ threads: threads ?? null })}
          />
        </SettingRow>
        <SettingRow name={t('setting.engine.warm')} about={t('setting.engine.warmAbout')}>
          <Switch
            label={t('setting.engine.warm')}
            checked={values.loadOnStart}
            onChange={(loadOnStart) => void set({ loadOnStart })}
          />
        </SettingRow>
        <SettingRow name={t('setting.engine.keep')} about={t('setting.engine.keepAbout')}>
          <NumberField
            label={t('setting.engine.keep')}
            value={values.idleUnloadMinutes ?? undefined}
            min={1}
            max={1440}
            step={1}
            placeholder={t('engine.always')}
            problem={t('sampling.range', { min: 1, max: formats.exact(1440) })}
            onChange={(minutes) => void set({ idleUnloadMinutes: minutes ?? null })}
          />
        </SettingRow>
        <SettingRow name={t('setting.engine.context')} about={t('setting.engine.contextAbout')}>
          <NumberField
            label={t('setting.engine.context')}
            value={values.contextLength ?? undefined}
            min={256}
            max={2_000_000}
            step={1}
            placeholder={t('sampling.fromModel')}
            problem={t('sampling.range', { min: 256, max: formats.exact(2_000_000) })}
            onChange={(contextLength) => void set({ contextLength: contextLength ?? null })}
          />
        </SettingRow>
        <SettingRow name={t('setting.engine.kv')} about={t('setting.engine.kvAbout')}>
          <Segmented<Settings['kvType']>
            label={t('setting.engine.kv')}
            value={values.kvType}
            options={[
              { value: 'f16', name: t('models.kv.f16') },
              { value: 'q8', name: t('models.kv.q8') },
            ]}
            onChange={(kvType) => void set({ kvType })}
          />
        </SettingRow>
        <PromptCache />
      </Section>
      <Section title={t('engine.devices')} note={info && t('engine.version', { version: versionOf(info) })}>
        {devices.map((device) => (
          <SettingRow key={device.id} name={device.name} about={device.available ? device.detail : device.reason}>
            <span className="text-fg-3 tabular-nums">
              {device.memoryBytes > 0 ? formats.memory(device.memoryBytes) : ''}
            </span>
            <Tag tone={device.available ? 'ok' : 'plain'}>{t(`backEnd.${device.backEnd}`)}</Tag>
          </SettingRow>
        ))}
      </Section>
    </>
  );

  function about(): string {
    if (status.phase === 'loading')
      return t('status.loading', { model: modelById(models, status.modelId)?.name ?? '', share: '' });
    if (inMemory && (status.phase === 'ready' || status.phase === 'busy')) {
      return t('engine.holds', {
        model: inMemory.name,
        memory: formats.memory(status.memoryBytes),
        size: formats.contextSize(status.contextLength),
        backEnd: nameOf(status.backEnd),
      });
    }
    return status.phase === 'restarting' || status.phase === 'stopped' || status.phase === 'idle'
      ? t(`status.${status.phase}`)
      : '';
  }
}
