import { useTranslation } from 'react-i18next';
import { canChat, PictureDetail, type Settings } from '../../app/protocol/index.ts';
import { isElectron } from '../bridge.ts';
import { useEngine } from '../stores/engine.ts';
import { useSettings } from '../stores/settings.ts';
import { Segmented, Select, Switch } from '../ui/choice.tsx';
import { SettingRow, TextArea } from '../ui/field.tsx';
import { PictureTokens } from './picture-tokens.tsx';
import { QuickQuestion } from './quick-question.tsx';
import { Section } from './section.tsx';
import { useDebouncedText } from './use-debounced-text.ts';

const FOLLOW = 'last-used';
const announcements = ['sentences', 'whole', 'off'] as const;
const openings = ['new', 'last'] as const;
const senders = ['enter', 'mod-enter'] as const;

export function ChatDefaults() {
  return (
    <>
      <Defaults />
      {isElectron() && <QuickQuestion />}
    </>
  );
}

function Defaults() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const models = useEngine((state) => state.models);
  const [prompt, setPrompt] = useDebouncedText(values.systemPrompt, (systemPrompt) => void set({ systemPrompt }));
  const options = [
    { value: FOLLOW, name: t('setting.chat.modelLastUsed') },
    ...models.filter(canChat).map((model) => ({ value: model.id as string, name: model.name })),
  ];
  return (
    <Section title={t('settings.chat')}>
      <SettingRow name={t('setting.chat.model')} about={t('setting.chat.modelAbout')}>
        <Select
          label={t('setting.chat.model')}
          width={190}
          value={values.defaultModelId ?? FOLLOW}
          options={options}
          onChange={(id) => void set({ defaultModelId: id === FOLLOW ? null : (id as Settings['defaultModelId']) })}
        />
      </SettingRow>
      <SettingRow name={t('setting.chat.send')}>
        <Segmented
          label={t('setting.chat.send')}
          value={values.sendWith}
          options={senders.map((value) => ({ value, name: t(`sendWith.${value}`) }))}
          onChange={(sendWith) => void set({ sendWith })}
        />
      </SettingRow>
      <SettingRow name={t('setting.chat.pictures')} about={t('setting.chat.picturesAbout')}>
        <Segmented
          label={t('setting.chat.pictures')}
          value={values.pictureDetail}
          options={PictureDetail.options.map((value) => ({ value, name: t(`pictureDetail.${value}`) }))}
          onChange={(pictureDetail) => void set({ pictureDetail })}
        />
      </SettingRow>
      <PictureTokens detail={values.pictureDetail} />
      <SettingRow name={t('setting.chat.openTo')}>
        <Segmented
          label={t('setting.chat.openTo')}
          value={values.openTo}
          options={openings.map((value) => ({ value, name: t(`openTo.${value}`) }))}
          onChange={(openTo) => void set({ openTo })}
        />
      </SettingRow>
      <SettingRow name={t('setting.chat.titles')} about={t('setting.chat.titlesAbout')}>
        <Switch
          label={t('setting.chat.titles')}
          checked={values.autoTitle}
          onChange={(autoTitle) => void set({ autoTitle })}
        />
      </SettingRow>
      <SettingRow name={t('setting.chat.announce')} about={t('setting.chat.announceAbout')}>
        <Select
          label={t('setting.chat.announce')}
          width={190}
          value={values.screenReader}
          options={announcements.map((value) => ({ value, name: t(`announce.${value}`) }))}
          onChange={(announce) => void set({ screenReader: announce })}
        />
      </SettingRow>
      <div className="border-t border-line px-4 py-3">
        <label className="font-medium" htmlFor="default-instructions">
          {t('setting.chat.instructions')}
        </label>
        <p className="mt-0.5 text-xs text-fg-3">{t('setting.chat.instructionsAbout')}</p>
        <TextArea
          id="default-instructions"
          dir="auto"
          className="mt-2 max-h-80 min-h-20"
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
        />
      </div>
    </Section>
  );
}
