import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isMac, keysAreFree } from '../bridge.ts';
import { caps, keysOf } from '../lib/keys.ts';
import { useSettings } from '../stores/settings.ts';
import { Switch } from '../ui/choice.tsx';
import { SettingRow } from '../ui/field.tsx';
import { Key } from '../ui/kbd.tsx';
import { Section } from './section.tsx';

/** The tray icon, and global shortcuts. */
export function QuickQuestion() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const mac = isMac();
  const name = t(mac ? 'setting.chat.menuBar' : 'setting.chat.tray');
  return (
    <Section title={t('setting.chat.quick')}>
      <SettingRow name={name} about={t(mac ? 'setting.chat.menuBarAbout' : 'setting.chat.trayAbout')}>
        <Switch label={name} checked={values.inTray} onChange={(inTray) => void set({ inTray })} />
      </SettingRow>
      <SettingRow name={t('setting.chat.quickKeys')} about={t('setting.chat.quickKeysAbout')}>
        <GlobalKeys
          label={t('setting.chat.quickKeys')}
          keys={values.quickKeys}
          onChange={(quickKeys) => void set({ quickKeys })}
        />
      </SettingRow>
      {!mac && (
        <SettingRow name={t('setting.chat.selectionKeys')} about={t('setting.chat.selectionKeysAbout')}>
          <GlobalKeys
            label={t('setting.chat.selectionKeys')}
            keys={values.selectionKeys}
            onChange={(selectionKeys) => void set({ selectionKeys })}
          />
        </SettingRow>
      )}
    </Section>
  );
}

type GlobalKeysProps = { label: string; keys: string | null; onChange: (keys: string | null) => void };

/** Records keys when clicked. Keys taken by another program, or that would block a letter, are refused. */
function GlobalKeys({ label, keys, onChange }: GlobalKeysProps) {
  const { t } = useTranslation();
  const [listening, setListening] = useState(false);
  const [refused, setRefused] = useState(false);
  const hear = async (event: KeyboardEvent) => {
    const pressed = keysOf(event.nativeEvent, isMac());
    if (pressed === 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
    if (pressed === null) return;
    if (pressed === 'Escape') return setListening(false);
    const cleared = pressed === 'Backspace' || pressed === 'Delete';
    if (!cleared && pressed !== keys && !(await keysAreFree(pressed))) return setRefused(true);
    setListening(false);
    onChange(cleared ? null : pressed);
  };
  return (
    <span className="flex items-center gap-2">
      <span role="status" className="text-xs text-bad-text">
        {listening && refused && t('shortcuts.notFree')}
      </span>
      <button
        type="button"
        onClick={() => {
          setRefused(false);
          setListening(true);
        }}
        onBlur={() => setListening(false)}
        onKeyDown={(event) => listening && void hear(event)}
        className={`flex h-control min-w-24 items-center justify-end gap-1 rounded-sm px-2 hover:bg-hover ${listening ? 'hairline-focus' : ''}`}
      >
        <span className="sr-only">{t('shortcuts.change', { name: label })}</span>
        {listening ? (
          <span className="text-xs text-fg-3">{t('shortcuts.press')}</span>
        ) : keys === null ? (
          <span className="text-xs text-fg-3">{t('shortcuts.none')}</span>
        ) : (
          caps(keys, isMac()).map((cap) => <Key key={cap}>{cap}</Key>)
        )}
      </button>
    </span>
  );
}
