import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isMac, reveal } from '../bridge.ts';
import { MoveDialog } from '../models/library-move.tsx';
import { LibraryState } from '../models/library-state.tsx';
import { useModels } from '../models/store.ts';
import { useEngine } from '../shell/engine.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { SettingRow } from '../ui/field.tsx';
import { Section } from './section.tsx';

export function Storage() {
  const { t } = useTranslation();
  const info = useEngine((state) => state.info);
  const folder = info?.dataFolder ?? '';
  return (
    <>
      <Section title={t('settings.storage')} note={t('storage.note')}>
        <SettingRow name={t('setting.storage.folder')} about={<Path path={folder} />}>
          <PathButtons path={folder} />
        </SettingRow>
        <SettingRow name={t('setting.storage.move')} about={t('setting.storage.moveAbout')} />
      </Section>
      <Models />
    </>
  );
}

/** Where the models are, and the way to another folder or disk. */
function Models() {
  const { t } = useTranslation();
  const library = useModels((state) => state.library);
  const { loadLibrary } = useModels.getState();
  const [asking, setAsking] = useState(false);
  useEffect(() => void loadLibrary(), [loadLibrary]);
  const folder = library?.folder ?? '';
  return (
    <Section title={t('setting.storage.models')} note={t('library.note')}>
      <SettingRow name={t('setting.storage.library')} about={<Path path={folder} />}>
        <PathButtons path={folder} />
        <Button disabled={!library || library.away || library.move !== null} onClick={() => setAsking(true)}>
          {t('library.ask')}
        </Button>
      </SettingRow>
      <div className="px-4 empty:hidden not-empty:pb-4">
        <LibraryState />
      </div>
      {asking && <MoveDialog onClose={() => setAsking(false)} />}
    </Section>
  );
}

const Path = ({ path }: { path: string }) => (
  <span className="font-mono wrap-anywhere" dir="ltr">
    {path}
  </span>
);

function PathButtons({ path }: { path: string }) {
  const { t } = useTranslation();
  const show = reveal();
  return (
    <>
      <CopyButton text={path} label={t('storage.copyPath')} />
      {show && <Button onClick={() => show(path)}>{isMac() ? t('storage.finder') : t('storage.fileManager')}</Button>}
    </>
  );
}
