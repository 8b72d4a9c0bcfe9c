import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isMac } from '../bridge.ts';
import { keysOfCommand } from '../commands/command-keys.ts';
import { type Command, commands } from '../commands/commands.ts';
import { caps, keysOf } from '../lib/keys.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { SettingRow } from '../ui/field.tsx';
import { Key } from '../ui/kbd.tsx';
import { Section } from './section.tsx';

/** Every command with its keys. A click records new ones; a conflict is reported, not overwritten. */
export function Shortcuts() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const [listening, setListening] = useState<string | null>(null);
  const [taken, setTaken] = useState<Command | null>(null);

  const hear = (command: Command, event: KeyboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const keys = keysOf(event.nativeEvent, isMac());
    if (keys === null) return;
    if (keys === 'Escape' || keys === 'Tab') return setListening(null);
    const chosen = keys === 'Backspace' || keys === 'Delete' ? '' : keys;
    const other =
      chosen === ''
        ? undefined
        : commands.find((one) => one.id !== command.id && keysOfCommand(one.id, values.keybindings) === chosen);
    setTaken(other ?? null);
    if (other) return;
    setListening(null);
    void set({ keybindings: { ...values.keybindings, [command.id]: chosen } });
  };

  return (
    <Section
      title={t('settings.shortcuts')}
      note={
        <Button
          kind="quiet"
          disabled={Object.keys(values.keybindings).length === 0}
          onClick={() => void set({ keybindings: {} })}
        >
          {t('shortcuts.reset')}
        </Button>
      }
    >
      {commands.map((command) => {
        const keys = keysOfCommand(command.id, values.keybindings);
        const hears = listening === command.id;
        return (
          <SettingRow
            key={command.id}
            name={t(`commands.${command.id}`)}
            about={
              hears && taken ? (
                <span className="text-bad-text">{t('shortcuts.taken', { name: t(`commands.${taken.id}`) })}</span>
              ) : undefined
            }
          >
            <button
              type="button"
              onClick={() => {
                setTaken(null);
                setListening(command.id);
              }}
              onBlur={() => setListening(null)}
              onKeyDown={(event) => hears && hear(command, event)}
              className={`flex h-control min-w-24 items-center justify-end gap-1 rounded-sm px-2 hover:bg-hover ${hears ? 'hairline-focus' : ''}`}
            >
              <span className="sr-only">{t('shortcuts.change', { name: t(`commands.${command.id}`) })}</span>
              {hears ? (
                <span className="text-xs text-fg-3">{t('shortcuts.press')}</span>
              ) : keys ? (
                caps(keys, isMac()).map((cap) => <Key key={cap}>{cap}</Key>)
              ) : (
                <span className="text-xs text-fg-3">{t('shortcuts.none')}</span>
              )}
            </button>
          </SettingRow>
        );
      })}
    </Section>
  );
}
