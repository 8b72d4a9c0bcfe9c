import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Response } from '../../app/protocol/index.ts';
import { core, isMac, reveal } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { MoveDialog } from '../parts/library-move.tsx';
import { LibraryState } from '../parts/library-state.tsx';
import { useEngine } from '../stores/engine.ts';
import { useModels } from '../stores/models/store.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/choice.tsx';
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
      <Packed />
    </>
  );
}

/** The models folder, and moving it to another folder or disk. */
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
        <Button disabled={!library || library.unmounted || library.move !== null} onClick={() => setAsking(true)}>
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

const LOOK_MS = 2000;

type PackedSize = Response<'weightCache.size'>;

/** The cache of packed weights: on or off, its size, and clearing it. */
function Packed() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const [size, setSize] = useState<PackedSize | null>(null);
  const [freed, setFreed] = useState(0);
  // The cache is written some time after a load.
  useEffect(() => {
    const look = () => void core.call('weightCache.size').then(setSize);
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  const nothing = !size || size.bytes === 0;
  const clear = async () => {
    if (nothing) return;
    const cleared = await core.call('weightCache.clear');
    setFreed(cleared.freed);
    setSize(await core.call('weightCache.size'));
  };
  return (
    <Section title={t('setting.storage.packed')} note={t('storage.packedNote')}>
      <SettingRow name={t('setting.storage.cachePackedWeights')} about={t('setting.storage.cachePackedWeightsAbout')}>
        <Switch
          label={t('setting.storage.cachePackedWeights')}
          checked={values.cachePackedWeights}
          onChange={(cachePackedWeights) => void set({ cachePackedWeights })}
        />
      </SettingRow>
      <SettingRow name={t('setting.storage.packedSize')} about={size && <Taken size={size} freed={freed} />}>
        {/* `disabled` would take the focus from it as soon as it has done its work. */}
        <Button
          kind="danger"
          aria-disabled={nothing}
          className={nothing ? 'pointer-events-none opacity-45' : ''}
          onClick={() => void clear()}
        >
          {t('storage.packedDelete')}
        </Button>
      </SettingRow>
    </Section>
  );
}

function Taken({ size, freed }: { size: PackedSize; freed: number }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { models, bytes } = size;
  const nothing = freed > 0 ? t('storage.packedFreed', { size: formats.fileSize(freed) }) : t('storage.packedNone');
  return (
    <span role="status">
      {bytes > 0 ? t('models.count', { count: models, size: formats.fileSize(bytes) }) : nothing}
    </span>
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
