import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { failureOf, type Response, type Settings, type SourceId } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { sentenceOf } from '../sentences.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Field, NumberField, SettingRow } from '../ui/field.tsx';
import { Section } from './section.tsx';

const MB = 1_000_000;
const MAX_MB = 10_000;

/** Model sources and network access. */
export function Downloads() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  return (
    <>
      <Section title={t('settings.downloads')} note={t('downloads.note')}>
        <SettingRow name={t('setting.downloads.limit')} about={t('setting.downloads.limitAbout')}>
          <NumberField
            label={t('setting.downloads.limit')}
            value={values.downloadLimit === null ? undefined : values.downloadLimit / MB}
            min={0.1}
            max={MAX_MB}
            step={0.1}
            placeholder={t('downloads.noLimit')}
            problem={t('sampling.range', { min: 0.1, max: MAX_MB })}
            onChange={(limit) => void set({ downloadLimit: limit === undefined ? null : Math.round(limit * MB) })}
          />
        </SettingRow>
        <TextRow name="mirror" setting="hubEndpoint" />
        <TextRow name="folder" setting="extraModelFolder" />
        <TextRow name="proxy" setting="proxy" />
        <TextRow name="certificates" setting="extraCaCertificates" />
      </Section>
      <Tokens />
    </>
  );
}

type TextSetting = 'hubEndpoint' | 'extraModelFolder' | 'proxy' | 'extraCaCertificates';
type TextRowProps = { name: 'mirror' | 'folder' | 'proxy' | 'certificates'; setting: TextSetting };

/** A text that is applied on blur; if the core refuses it, it stays in the field with the reason. */
function TextRow({ name, setting }: TextRowProps) {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const keep = async () => {
    if (text === null) return;
    try {
      await set({ [setting]: text.trim() === '' ? null : text.trim() } as Partial<Settings>);
      setText(null);
      setProblem(null);
    } catch (error) {
      const failure = failureOf(error);
      const wrong = failure.code === 'bad-request' || failure.code === 'unreadable';
      const words = t(`setting.downloads.${name}Problem`);
      setProblem(wrong ? words : sentenceOf(failure));
    }
  };
  return (
    <SettingRow name={t(`setting.downloads.${name}`)} about={t(`setting.downloads.${name}About`)}>
      <Field
        className="w-64"
        aria-label={t(`setting.downloads.${name}`)}
        dir="ltr"
        spellCheck={false}
        value={text ?? values[setting] ?? ''}
        problem={problem}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void keep()}
        onKeyDown={(event) => event.key === 'Enter' && void keep()}
      />
    </SettingRow>
  );
}

/** The hosts that have a token. A token is never sent back to the page. */
function Tokens() {
  const { t } = useTranslation();
  const [list, setList] = useState<Response<'tokens.list'> | null>(null);
  const load = () => void core.call('tokens.list').then(setList);
  useEffect(load, []);
  const forget = (source: SourceId) => void core.call('tokens.set', { source, token: null }).then(load);
  if (!list || list.sources.length === 0) return null;
  return (
    <Section title={t('setting.downloads.tokens')} note={t(`secrets.storedIn.${list.storedIn}`)}>
      {list.sources.map((source) => (
        <SettingRow key={source} name={source}>
          <Button kind="danger" onClick={() => forget(source)}>
            {t('downloads.forgetToken')}
          </Button>
        </SettingRow>
      ))}
    </Section>
  );
}
