import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type CatalogueModel, canChat, type ModelEntry } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { matchOf } from '../../lib/word-match.ts';
import { FitTag } from '../../parts/fit-tag.tsx';
import { useEngine, useOnGpu } from '../../stores/engine.ts';
import { chatWith } from '../../stores/models/chat-with.ts';
import {
  type Ability,
  bestFor,
  FILTERS,
  fitOf,
  fittingFirst,
  leastBytes,
  likelyDescription,
} from '../../stores/models/memory-fit.ts';
import { type Place, showInstalled, useChosenContext, useModels } from '../../stores/models/store.ts';
import { IconButton } from '../../ui/button.tsx';
import { Tag } from '../../ui/choice.tsx';
import { fetchModel, useFetching } from '../downloads/fetch-model.ts';
import { Consent } from './consent.tsx';
import { DownloadPanel } from './download-panel.tsx';
import { usePurpose } from './purpose.tsx';
import { SearchResults } from './search-results.tsx';

export const placeOf = (model: CatalogueModel): Place => ({
  id: model.id,
  name: model.name,
  references: model.forms.map((form) => form.repository),
});

/** Models that run here, those that fit first; beside them the selected model with its variants. */
export function Catalogue({ query }: { query: string }) {
  const { t } = useTranslation();
  const { catalogue, machine, place } = useModels();
  const chosen = useChosenContext();
  const { choose } = useModels.getState();
  const gpu = useOnGpu();
  const models = useEngine((state) => state.models);
  const [ability, setAbility] = useState<Ability | null>(null);
  if (!machine) return null;
  const best = bestFor(catalogue, machine, gpu);
  const shown = fittingFirst(catalogue, machine, chosen)
    .filter((model) => ability === null || model.abilities.includes(ability))
    .filter((model) => matchOf(`${model.name} ${model.maker}`, query) !== null)
    .toSorted((a, b) => Number(b.id === best?.id) - Number(a.id === best?.id));
  const current = place ?? (best && placeOf(best));
  return (
    <div className="flex min-h-0 flex-1 max-md:flex-col">
      <div className="flex w-95 min-h-0 flex-none flex-col border-e border-line max-xl:w-75 max-md:h-64 max-md:w-full">
        <div className="flex flex-none flex-wrap gap-1.5 border-b border-line px-5 py-2.25">
          {FILTERS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === ability}
              onClick={() => setAbility(one === ability ? null : one)}
              className={`h-5 rounded-[5px] px-1.75 text-2xs font-medium ${one === ability ? 'bg-ink-soft text-ink-text' : 'bg-hover text-fg-2 hover:text-fg'}`}
            >
              {t(`models.ability.${one}`)}
            </button>
          ))}
        </div>
        <ul aria-label={t('models.catalogue')} className="min-h-0 flex-1 overflow-y-auto">
          {shown.map((model) => (
            <li key={model.id}>
              <Row
                model={model}
                best={model.id === best?.id}
                current={model.id === current?.id}
                here={models.find((one) => madeFrom(one.name, model)) ?? null}
                verdict={fitOf(likelyDescription(model), machine, chosen).verdict}
                onOpen={() => choose(placeOf(model))}
              />
            </li>
          ))}
          <SearchResults query={query} />
        </ul>
      </div>
      {current && (
        <DownloadPanel
          key={current.id}
          place={current}
          known={catalogue.find((model) => model.id === current.id) ?? null}
          machine={machine}
        />
      )}
      <Consent />
    </div>
  );
}

/** Installed models keep the name of the catalogue, followed by the variant. */
const madeFrom = (name: string, { name: known }: CatalogueModel) => name === known || name.startsWith(`${known} `);

type RowProps = {
  model: CatalogueModel;
  best: boolean;
  /** The installed model, if one of its variants is. */
  here: ModelEntry | null;
  current: boolean;
  verdict: 'fits' | 'tight' | 'too-large';
  onOpen: () => void;
};

function Row({ model, best, here, current, verdict, onOpen }: RowProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const purpose = usePurpose(model);
  const busy = useFetching((state) => state.busy.has(model.id));
  const size = formats.fileSize(leastBytes(model));
  return (
    <div
      className={`flex min-h-16 items-center gap-1 border-b border-line pe-3 ${current ? 'bg-ink-soft' : 'hover:bg-hover'}`}
    >
      <button
        type="button"
        aria-current={current}
        onClick={onOpen}
        className="flex min-h-16 min-w-0 flex-1 flex-col justify-center gap-1 ps-5 text-start ring-inset-focus"
      >
        <span className="flex w-full items-center gap-2.5">
          <span className="max-w-13/20 flex-none truncate font-semibold">{model.name}</span>
          {best && <span className="min-w-0 truncate text-2xs font-medium text-ink-text">{t('models.best')}</span>}
          {here && !best && <Tag>{t('models.installed')}</Tag>}
          <span className="ms-auto">
            <FitTag verdict={verdict} />
          </span>
        </span>
        <span className="text-xs text-fg-2">{purpose}</span>
      </button>
      {here && !canChat(here) ? (
        <IconButton
          icon="models"
          label={t('models.detailsOf', { name: here.name })}
          onClick={() => showInstalled(here.id)}
        />
      ) : here ? (
        <IconButton
          icon="chat"
          label={t('models.chatWith', { name: here.name })}
          disabled={here.missing}
          onClick={() => chatWith(here.id)}
        />
      ) : (
        <IconButton
          icon="download"
          label={t('models.downloadModel', { name: model.name, size })}
          disabled={busy}
          onClick={() => {
            onOpen();
            void fetchModel(placeOf(model));
          }}
        />
      )}
    </div>
  );
}
