import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { type CatalogueModel, canChat, type Machine } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { Details } from '../../parts/problem.tsx';
import { sentenceOf } from '../../sentences.ts';
import { useEngine } from '../../stores/engine.ts';
import { chatWith } from '../../stores/models/chat-with.ts';
import {
  FILTERS,
  fitOf,
  type KvType,
  leastBytes,
  likelyDescription,
  suggestedVariant,
} from '../../stores/models/memory-fit.ts';
import { type Place, showInstalled, useChosenContext, useModels } from '../../stores/models/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { Button } from '../../ui/button.tsx';
import { Segmented } from '../../ui/choice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { fetchModel, nameOf, rowsOf, useFetching } from '../downloads/fetch-model.ts';
import { ContextSlider } from '../memory/context-slider.tsx';
import { MemoryBar } from '../memory/memory-bar.tsx';
import { InspectError } from './inspect-error.tsx';
import { LayerDetails, usePurpose } from './purpose.tsx';
import { Quantisations } from './quantisations.tsx';

/** A model that is not installed: memory at the chosen context, its variants, and the download. */
export function DownloadPanel({
  place,
  known,
  machine,
}: {
  place: Place;
  known: CatalogueModel | null;
  machine: Machine;
}) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { looks, variant } = useModels();
  const chosen = useChosenContext();
  const setSettings = useSettings((state) => state.set);
  const { look } = useModels.getState();
  const asked = useSettings((state) => state.values.hubConsent);
  const busy = useFetching((state) => state.busy.has(place.id));
  const problem = useFetching((state) => state.problems[place.id] ?? null);
  // Compared by value: equal references are the same place.
  const wanted = place.references.join('\n');
  useEffect(() => {
    if (asked) for (const reference of wanted.split('\n')) void look(reference);
  }, [asked, wanted, look]);

  const rows = rowsOf(place, looks);
  const suggested = suggestedVariant(
    rows.map((row) => row.variant),
    machine,
    chosen,
  );
  const current =
    rows.find((row) => row.reference === variant?.reference && row.variant.id === variant.id) ??
    rows.find((row) => row.variant === suggested) ??
    null;
  // The chosen variant, once downloaded.
  const here = useEngine(({ models }) =>
    models.find(({ name }) => name === (current && nameOf(place, current.variant))),
  );
  const description = current?.variant.description ?? (known && likelyDescription(known));
  const fit = description && fitOf(description, machine, chosen);
  const failed = place.references.flatMap((reference) => {
    const found = looks[reference];
    return found?.status === 'failed' ? [found.failure] : [];
  });
  const purpose = usePurpose(known);
  const looking = place.references.some((reference) => looks[reference]?.status === 'looking');
  const size = current
    ? t('models.download', { size: formats.fileSize(current.variant.bytes) })
    : known
      ? t('models.downloadAbout', { size: formats.fileSize(leastBytes(known)) })
      : t('models.downloadPlain');
  return (
    <div className="min-w-0 flex-1 overflow-y-auto px-7 py-6">
      <div className="flex items-start gap-4">
        <div className="min-w-0 flex-1">
          <h2 className="text-xl font-semibold tracking-tight">
            <bdi className="wrap-anywhere">{place.name}</bdi>
          </h2>
          {known && <p className="mt-1 font-medium">{purpose}</p>}
          <p className="mt-1 text-fg-2">
            {known
              ? [
                  known.maker,
                  known.licence,
                  ...FILTERS.filter((one) => known.abilities.includes(one)).map((one) => t(`models.ability.${one}`)),
                ].join(', ')
              : t('models.unknown')}
          </p>
        </div>
        {here && !canChat(here) ? (
          <Button large icon="models" className="flex-none" onClick={() => showInstalled(here.id)}>
            {t('models.showImport')}
          </Button>
        ) : here ? (
          <Button
            large
            kind="primary"
            icon="chat"
            className="flex-none"
            disabled={here.missing}
            onClick={() => chatWith(here.id)}
          >
            {t('models.useNow')}
          </Button>
        ) : (
          <Button
            large
            kind="primary"
            icon="download"
            className="flex-none"
            disabled={busy || current?.variant.description.supported === false}
            onClick={() => void fetchModel(place, current)}
          >
            {size}
          </Button>
        )}
      </div>
      {problem && (
        <div className="mt-4">
          <Notice alert tone="bad" title={t('models.notBegun')}>
            {sentenceOf(problem)}
            <Details text={problem.message} />
          </Notice>
        </div>
      )}
      {fit && description && (
        <>
          <div className="mt-6 flex items-start gap-6">
            <div className="min-w-0 flex-1">
              <ContextSlider title={t('models.ifContext')} model={description} />
            </div>
            <div className="flex-none">
              <div className="mb-2 font-semibold">{t('models.storedAs')}</div>
              <Segmented<KvType>
                label={t('models.storedAs')}
                value={chosen.kvType}
                options={[
                  { value: 'f16', name: t('models.kv.f16') },
                  { value: 'q8', name: t('models.kv.q8') },
                ]}
                onChange={(next) => void setSettings({ kvType: next })}
              />
            </div>
          </div>
          <div className="mt-4">
            <MemoryBar
              fit={fit}
              limit={machine.limitBytes}
              note={
                current
                  ? t('models.totalAt', { memory: formats.memory(fit.total), type: current.variant.label })
                  : t('models.totalAbout', { memory: formats.memory(fit.total) })
              }
            />
          </div>
        </>
      )}
      {current?.variant.exact && !current.variant.description.supported && (
        <div className="mt-4">
          <Notice tone="warn" title={t('errors.model-unsupported.what')}>
            {current.variant.description.problems.slice(0, 3).join(' ')}
          </Notice>
        </div>
      )}
      {rows.length > 0 && (
        <Quantisations rows={rows} current={current} suggested={suggested} machine={machine} chosen={chosen} />
      )}
      {known && <LayerDetails model={known} />}
      {looking && <p className="mt-5 animate-breathe text-fg-2">{t('models.looking')}</p>}
      {rows.length === 0 && !looking && failed[0] && (
        <InspectError
          failure={failed[0]}
          onAgain={() => place.references.forEach((reference) => void look(reference, { again: true }))}
        />
      )}
    </div>
  );
}
