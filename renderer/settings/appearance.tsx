import { RadioGroup } from 'radix-ui';
import { useTranslation } from 'react-i18next';
import type { Settings } from '../../app/protocol/index.ts';
import { languages } from '../i18n.ts';
import { useSettings } from '../stores/settings.ts';
import { Segmented, Select, Slider, Switch } from '../ui/choice.tsx';
import { Card, SettingRow } from '../ui/field.tsx';
import { textSizes } from './apply.ts';

const themes = ['system', 'light', 'dark'] as const;
const widths = ['narrow', 'medium', 'wide'] as const;

export function Appearance() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  return (
    <section aria-label={t('settings.appearance')}>
      <h2 className="text-lg font-semibold tracking-tight">{t('settings.appearance')}</h2>
      <RadioGroup.Root
        aria-label={t('setting.appearance.theme')}
        value={values.theme}
        onValueChange={(theme) => void set({ theme: theme as Settings['theme'] })}
        className="mt-5 flex flex-wrap gap-7 px-1"
      >
        {themes.map((theme) => (
          <RadioGroup.Item
            key={theme}
            value={theme}
            className="group flex flex-col items-center gap-1.5 text-fg-2 outline-none data-[state=checked]:font-semibold data-[state=checked]:text-fg"
          >
            <span className="rounded-lg outline-offset-3 group-focus-visible:outline-2 group-focus-visible:outline-ink-text group-data-[state=checked]:outline-2 group-data-[state=checked]:outline-ink-text">
              <Preview theme={theme} />
            </span>
            {t(`setting.appearance.${theme}`)}
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
      <Card className="mt-6.5">
        <SettingRow name={t('setting.appearance.language')}>
          <Select
            label={t('setting.appearance.language')}
            value={values.language}
            options={languages}
            onChange={(language) => void set({ language })}
          />
        </SettingRow>
        <SettingRow name={t('setting.appearance.textSize')} about={t('setting.appearance.textSizeAbout')}>
          <span className="flex items-center gap-3 text-fg-3">
            <span aria-hidden className="text-xs">
              A
            </span>
            <span className="w-37.5">
              <Slider
                label={t('setting.appearance.textSize')}
                value={textSizes.indexOf(values.textSize)}
                stops={textSizes.map((size) => t(`size.${size}`))}
                onChange={(at) => void set({ textSize: textSizes[at] ?? 'medium' })}
              />
            </span>
            <span aria-hidden className="text-lg">
              A
            </span>
          </span>
        </SettingRow>
        <SettingRow name={t('setting.appearance.width')}>
          <Segmented
            label={t('setting.appearance.width')}
            value={values.readingWidth}
            options={widths.map((value) => ({ value, name: t(`width.${value}`) }))}
            onChange={(readingWidth) => void set({ readingWidth })}
          />
        </SettingRow>
        <SettingRow name={t('setting.appearance.motion')} about={t('setting.appearance.motionAbout')}>
          <Switch
            label={t('setting.appearance.motion')}
            checked={values.motion === 'reduced'}
            onChange={(reduced) => void set({ motion: reduced ? 'reduced' : 'system' })}
          />
        </SettingRow>
      </Card>
    </section>
  );
}

/** A tiny window in the colours of a theme; "System" is half of each. */
function Preview({ theme }: { theme: Settings['theme'] }) {
  if (theme !== 'system') return <Window theme={theme} />;
  return (
    <span className="relative block">
      <Window theme="light" />
      <span className="absolute inset-0 [clip-path:polygon(50%_0,100%_0,100%_100%,50%_100%)]">
        <Window theme="dark" />
      </span>
    </span>
  );
}

function Window({ theme }: { theme: 'light' | 'dark' }) {
  return (
    <span
      data-theme={theme}
      className="flex h-19 w-30 overflow-hidden rounded-lg bg-canvas shadow-[0_0_0_1px_var(--color-line-strong)]"
    >
      <span className="block w-8.5 bg-select" />
      <span className="flex flex-1 flex-col px-2 py-2.5">
        <span className="ms-auto block h-2 w-8.5 rounded-full bg-select" />
        <span className="mt-2.5 block h-0.75 rounded-full bg-fg" />
        <span className="mt-1 block h-0.75 w-7/10 rounded-full bg-fg" />
        <span className="mt-2 ms-auto block size-2.5 rounded-full bg-ink" />
      </span>
    </span>
  );
}
