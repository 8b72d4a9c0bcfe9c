import { useTranslation } from 'react-i18next';
import { useFormats } from '../i18n.ts';
import { useSettings } from '../settings/store.ts';
import { Button } from '../ui/button.tsx';
import { hubOf } from './hub.ts';
import { useModels } from './store.ts';

/** What a search on the hub found, below the catalogue. Nothing is asked before the button. */
export function Found({ query }: { query: string }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const finding = useModels((state) => state.finding);
  const place = useModels((state) => state.place);
  const { find, choose } = useModels.getState();
  const hub = hubOf(useSettings((state) => state.values.hubMirror));
  const text = query.trim();
  return (
    <>
      {text !== '' && (
        <li className="px-5 py-3">
          <Button disabled={finding.at === 'searching'} onClick={() => void find(text)}>
            {t('models.searchHub', { hub })}
          </Button>
        </li>
      )}
      {finding.at === 'failed' && (
        <li role="alert" className="px-5 py-2 text-xs text-bad-text wrap-anywhere">
          {t(`errors.${finding.failure.code}.what`)}. {t(`errors.${finding.failure.code}.way`)}
        </li>
      )}
      {finding.at === 'found' && finding.models.length === 0 && (
        <li className="px-5 py-2 text-fg-2">{t('palette.nothing')}</li>
      )}
      {finding.at === 'found' &&
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
              </span>
            </button>
          </li>
        ))}
    </>
  );
}
