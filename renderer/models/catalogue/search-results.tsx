import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import { sentenceOf } from '../../sentences.ts';
import { hubOf } from '../../stores/models/hub.ts';
import { useModels } from '../../stores/models/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/choice.tsx';

/** Results of a search on the hub, below the catalogue. Nothing is sent before the button is pressed. */
export function SearchResults({ query }: { query: string }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const finding = useModels((state) => state.finding);
  const { place, source, all } = useModels();
  const folder = useSettings((state) => state.values.extraModelFolder);
  const { find, choose } = useModels.getState();
  const hub = hubOf(useSettings((state) => state.values.hubEndpoint));
  const text = query.trim();
  return (
    <>
      {text !== '' && (
        <li className="px-5 py-3">
          <div className="flex flex-wrap items-center gap-2">
            <Button disabled={finding.status === 'searching'} onClick={() => void find(text)}>
              {t('models.searchIn')}
            </Button>
            <Select
              label={t('models.searchWhere')}
              width={120}
              value={source ?? 'hub'}
              options={[
                { value: 'hub', name: hub },
                { value: 'modelscope', name: 'modelscope.cn' },
                ...(folder === null ? [] : [{ value: 'folder' as const, name: t('models.folder') }]),
              ]}
              onChange={(next) => useModels.setState({ source: next === 'hub' ? null : next })}
            />
          </div>
          <label className="mt-2 flex items-center gap-2 text-xs text-fg-2">
            <input
              type="checkbox"
              className="size-3.5 accent-ink"
              checked={all}
              onChange={(event) => useModels.setState({ all: event.target.checked })}
            />
            {t('models.searchAll')}
          </label>
        </li>
      )}
      {finding.status === 'failed' && (
        <li role="alert" className="px-5 py-2 text-xs text-bad-text wrap-anywhere">
          {sentenceOf(finding.failure)}
        </li>
      )}
      {finding.status === 'found' && finding.models.length === 0 && (
        <li className="px-5 py-2 text-fg-2">{t('palette.nothing')}</li>
      )}
      {finding.status === 'found' &&
        finding.models.map((model) => (
          <li key={model.name}>
            <button
              type="button"
              aria-current={place?.id === model.name}
              onClick={() => choose({ id: model.name, name: model.name, references: [model.name] })}
              className={`flex min-h-12 w-full flex-col justify-center border-b border-line px-5 text-start ring-inset-focus ${place?.id === model.name ? 'bg-ink-soft' : 'hover:bg-hover'}`}
            >
              <bdi className="w-full truncate font-semibold">{model.name}</bdi>
              <span className="text-xs text-fg-3 tabular-nums">
                {model.downloads !== null && t('models.fetched', { count: formats.tokens(model.downloads) })}
                {model.gated && ` ${t('models.gated')}`}
                {model.runs === false && ` ${t('model.unsupported')}`}
              </span>
            </button>
          </li>
        ))}
    </>
  );
}
