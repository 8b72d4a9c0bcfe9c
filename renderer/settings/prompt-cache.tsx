import { useCallback, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PromptCacheUse } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { useEngine } from '../stores/engine.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/choice.tsx';
import { NumberField, SettingRow } from '../ui/field.tsx';

const MAX_MB = 1_048_576;
const DEFAULT_DISK_MB = 4096;

/** How much of the prompts is cached in memory and on disk, so that switching chats, editing and asking again are fast. */
export function PromptCache() {
  const { t } = useTranslation();
  const formats = useFormats();
  const { values, set } = useSettings();
  const status = useEngine((state) => state.status.phase);
  const [use, setUse] = useState<PromptCacheUse | null>(null);
  const look = useCallback(() => {
    core.call('engine.promptCache').then(setUse, () => setUse(null));
  }, []);
  // A model was loaded or unloaded, or an answer has ended.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the status and the size are why to look again
  useEffect(look, [look, status, values.promptCacheMB, values.promptCacheOnDisk, values.promptCacheDiskMB]);
  const clear = () => void core.call('engine.clearPromptCache').then(look, look);
  return (
    <>
      <SettingRow
        name={t('setting.engine.cache')}
        about={
          use && use.budgetBytes > 0
            ? [
                t('setting.engine.cacheUsed', {
                  used: formats.memory(use.bytes),
                  most: formats.memory(use.budgetBytes),
                }),
                ...(use.hitShare === null
                  ? []
                  : [t('setting.engine.cacheHits', { share: formats.percent(use.hitShare) })]),
              ].join(' ')
            : t('setting.engine.cacheAbout')
        }
      >
        {use && (use.bytes + use.diskBytes > 0 || use.onDisk === 'locked') && (
          <Button onClick={clear}>{t('setting.engine.cacheClear')}</Button>
        )}
        <NumberField
          label={t('setting.engine.cache')}
          value={values.promptCacheMB ?? undefined}
          min={0}
          max={MAX_MB}
          step={1}
          placeholder={t('engine.automatic')}
          problem={t('sampling.range', { min: 0, max: formats.exact(MAX_MB) })}
          onChange={(megabytes) => void set({ promptCacheMB: megabytes ?? null })}
        />
      </SettingRow>
      <SettingRow
        name={t('setting.engine.cacheDisk')}
        about={[
          t('setting.engine.cacheDiskAbout'),
          t(`cacheProtection.${use?.onDisk ?? 'off'}`),
          ...(use && use.diskBytes > 0
            ? [t('setting.engine.cacheDiskUsed', { used: formats.memory(use.diskBytes) })]
            : []),
        ].join(' ')}
      >
        <Switch
          label={t('setting.engine.cacheDisk')}
          checked={values.promptCacheOnDisk}
          onChange={(promptCacheOnDisk) => void set({ promptCacheOnDisk })}
        />
      </SettingRow>
      {values.promptCacheOnDisk && (
        <SettingRow name={t('setting.engine.cacheDiskSize')} about={t('setting.engine.cacheDiskSizeAbout')}>
          <NumberField
            label={t('setting.engine.cacheDiskSize')}
            value={values.promptCacheDiskMB}
            min={1}
            max={MAX_MB}
            step={1}
            placeholder={formats.exact(DEFAULT_DISK_MB)}
            problem={t('sampling.range', { min: 1, max: formats.exact(MAX_MB) })}
            onChange={(megabytes) => void set({ promptCacheDiskMB: megabytes ?? DEFAULT_DISK_MB })}
          />
        </SettingRow>
      )}
    </>
  );
}
