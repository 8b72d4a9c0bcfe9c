import { useTranslation } from 'react-i18next';
import { isMac, reveal } from '../bridge.ts';
import { useEngine } from '../shell/engine.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { SettingRow } from '../ui/field.tsx';
import { Section } from './section.tsx';

export function Storage() {
  const { t } = useTranslation();
  const info = useEngine((state) => state.info);
  const show = reveal();
  const folder = info?.dataFolder ?? '';
  return (
    <Section title={t('settings.storage')} note={t('storage.note')}>
      <SettingRow
        name={t('setting.storage.folder')}
        about={
          <span className="font-mono wrap-anywhere" dir="ltr">
            {folder}
          </span>
        }
      >
        <CopyButton text={folder} label={t('storage.copyPath')} />
        {show && (
          <Button onClick={() => show(folder)}>{isMac() ? t('storage.finder') : t('storage.fileManager')}</Button>
        )}
      </SettingRow>
      <SettingRow name={t('setting.storage.move')} about={t('setting.storage.moveAbout')} />
    </Section>
  );
}
