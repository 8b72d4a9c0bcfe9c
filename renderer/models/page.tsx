import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SidebarButtons } from '../parts/sidebar-buttons.tsx';
import { useEngine } from '../stores/engine.ts';
import { isReference } from '../stores/models/hub.ts';
import { type Tab, useModels } from '../stores/models/store.ts';
import { usePerformance } from '../stores/performance/store.ts';
import { Segmented } from '../ui/choice.tsx';
import { Field } from '../ui/field.tsx';
import { Catalogue } from './catalogue/catalogue.tsx';
import { DownloadList } from './downloads/download-list.tsx';
import { Import } from './installed/import.tsx';
import { Installed } from './installed/installed.tsx';
import { RemoteEngines } from './remote/remote-engines.tsx';

export function ModelsPage() {
  const { t } = useTranslation();
  const { tab, downloads } = useModels();
  const { load, choose, find } = useModels.getState();
  const count = useEngine((state) => state.models.filter(({ remote }) => remote === null).length);
  const [query, setQuery] = useState('');
  useEffect(() => {
    void load();
    void usePerformance.getState().load();
  }, [load]);
  const search = (event: FormEvent) => {
    event.preventDefault();
    const text = query.trim();
    if (text === '') return;
    if (!isReference(text)) return void find(text);
    choose({ id: text, name: text, references: [text] });
    setQuery('');
  };
  return (
    <main className="flex h-full min-w-0 flex-col">
      <header className="drag-region flex h-bar flex-none items-center gap-3.5 border-b border-line ps-5 pe-3">
        <SidebarButtons />
        <h1 className="font-semibold max-lg:sr-only">{t('models.title')}</h1>
        <span className="no-drag">
          <Segmented<Tab>
            label={t('models.title')}
            value={tab}
            options={[
              { value: 'installed', name: t('models.installed'), count },
              { value: 'catalogue', name: t('models.catalogue') },
              { value: 'downloads', name: t('models.downloads'), count: downloads.length },
              { value: 'remote', name: t('remoteEngines.tab') },
            ]}
            onChange={(next) => useModels.setState({ tab: next })}
          />
        </span>
        <span className="flex-1" />
        {tab === 'catalogue' && (
          <form onSubmit={search} className="no-drag w-65 min-w-30">
            <Field
              icon="search"
              aria-label={t('models.search')}
              placeholder={t('models.search')}
              value={query}
              spellCheck={false}
              onChange={(event) => setQuery(event.target.value)}
            />
          </form>
        )}
        <Import />
      </header>
      {tab === 'installed' && <Installed />}
      {tab === 'catalogue' && <Catalogue query={query} />}
      {tab === 'remote' && <RemoteEngines />}
      {(tab === 'catalogue' || tab === 'downloads') && <DownloadList whole={tab === 'downloads'} />}
    </main>
  );
}
