import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SidebarButtons } from '../parts/sidebar-buttons.tsx';
import { type SettingsSection, useShell } from '../stores/shell.ts';
import { Field } from '../ui/field.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Appearance } from './appearance.tsx';
import { ChatDefaults } from './chat-defaults.tsx';
import { Downloads } from './downloads.tsx';
import { Engine } from './engine.tsx';
import { Privacy } from './privacy.tsx';
import { Sampling } from './sampling.tsx';
import { matchingSections } from './search.ts';
import { Shortcuts } from './shortcuts.tsx';
import { Storage } from './storage.tsx';
import { ThinkingAndLoops } from './thinking.tsx';
import { Tools } from './tools.tsx';

type SectionEntry = { id: SettingsSection; icon: IconName; Page: () => ReactNode };

/** In display order, including sections contributed by other pages. */
const sections: readonly SectionEntry[] = [
  { id: 'appearance', icon: 'sun', Page: Appearance },
  { id: 'chat', icon: 'chat', Page: ChatDefaults },
  { id: 'sampling', icon: 'sampling', Page: Sampling },
  { id: 'thinking', icon: 'loop', Page: ThinkingAndLoops },
  { id: 'tools', icon: 'tool', Page: Tools },
  { id: 'storage', icon: 'drive', Page: Storage },
  { id: 'downloads', icon: 'download', Page: Downloads },
  { id: 'privacy', icon: 'privacy', Page: Privacy },
  { id: 'engine', icon: 'engine', Page: Engine },
  { id: 'shortcuts', icon: 'keys', Page: Shortcuts },
];

export function SettingsPage({ section }: { section: SettingsSection }) {
  const { t } = useTranslation();
  const go = useShell((state) => state.go);
  const [query, setQuery] = useState('');
  const matching = matchingSections(
    sections.map((entry) => entry.id),
    query,
  );
  const current = matching.includes(section) ? section : matching[0];
  const entry = sections.find((one) => one.id === current);
  return (
    <main className="flex h-full min-w-0 flex-col">
      <header className="drag-region flex h-bar flex-none items-center gap-2 border-b border-line ps-5 pe-3">
        <SidebarButtons />
        <h1 className="font-semibold">{t('settings.title')}</h1>
        <span className="flex-1" />
        <Field
          icon="search"
          className="no-drag w-55"
          aria-label={t('settings.search')}
          placeholder={t('settings.search')}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </header>
      <div className="flex min-h-0 flex-1 max-md:flex-col">
        <nav
          aria-label={t('settings.title')}
          className="flex w-52 flex-none flex-col gap-px overflow-y-auto border-e border-line px-2 py-3 max-lg:w-44"
        >
          {sections
            .filter((one) => matching.includes(one.id))
            .map(({ id, icon }) => (
              <button
                key={id}
                type="button"
                aria-current={id === current ? 'page' : undefined}
                onClick={() => go({ kind: 'settings', section: id })}
                className={`flex h-row w-full flex-none items-center gap-2 rounded-sm px-2 ring-inset-focus ${id === current ? 'bg-select font-medium text-fg' : 'text-fg-2 hover:bg-hover'}`}
              >
                <Icon name={icon} className={id === current ? 'text-fg' : 'text-fg-3'} />
                <span className="truncate">{t(`settings.${id}`)}</span>
              </button>
            ))}
        </nav>
        <div className="min-w-0 flex-1 overflow-y-auto">
          <div className="mx-auto max-w-176 px-8 py-7">
            {entry ? <entry.Page /> : <p className="text-fg-2">{t('settings.nothing', { query })}</p>}
          </div>
        </div>
      </div>
    </main>
  );
}
