import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Machine, ModelEntry } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { FitTag } from '../../parts/fit-tag.tsx';
import { LibraryState } from '../../parts/library-state.tsx';
import { useEngine } from '../../stores/engine.ts';
import { type Chosen, fitOf, stripOfModel, typeOf } from '../../stores/models/memory-fit.ts';
import { matchingModels } from '../../stores/models/model-list.ts';
import { speedOf } from '../../stores/models/speeds.ts';
import { useChosenContext, useModels } from '../../stores/models/store.ts';
import { usePerformance } from '../../stores/performance/store.ts';
import { MISSING } from '../../ui/format.ts';
import { LayerStrip, useStripLabel } from '../memory/layer-strip.tsx';
import { ShrinkState } from '../shrinking/shrink-state.tsx';
import { CheckAll } from './check-all.tsx';
import { Details } from './details.tsx';
import { ExternalModels } from './external-models.tsx';

const columns =
  'grid grid-cols-[minmax(9rem,1fr)_8.5rem_6rem_4.25rem_4rem_4.25rem_5.25rem] items-center gap-3 px-5 max-xl:grid-cols-[minmax(7rem,1fr)_4.5rem_5.25rem]';

/** Installed models, each with its layers, its size and whether it fits at the chosen context. */
export function Installed() {
  const { t } = useTranslation();
  const formats = useFormats();
  const models = useEngine((state) => state.models).filter(({ remote }) => remote === null);
  const { machine, installed, shrinking } = useModels();
  const { loadDetails } = useModels.getState();
  const sorted = matchingModels(models, '');
  const current = models.find((model) => model.id === installed) ?? sorted[0] ?? null;
  useEffect(() => {
    if (current) void loadDetails(current.id);
  }, [current?.id, current, loadDetails]);
  const chosen = useChosenContext();
  return (
    <div className="flex min-h-0 flex-1 max-lg:flex-col">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <div className="flex flex-col gap-3 px-5 not-empty:py-3">
          <LibraryState />
          {shrinking && shrinking.modelId !== current?.id && <ShrinkState shrinking={shrinking} />}
        </div>
        <div className="min-h-0 flex-1 overflow-y-auto">
          <div className={`${columns} h-7 border-b border-line text-2xs text-fg-3`}>
            <span>{t('models.column.model')}</span>
            <span className="max-xl:hidden">{t('models.column.layers')}</span>
            <span className="max-xl:hidden">{t('models.column.quantisation')}</span>
            <span className="text-end">{t('models.column.size')}</span>
            <span className="text-end max-xl:hidden">{t('models.column.context')}</span>
            <span className="text-end max-xl:hidden">{t('models.column.here')}</span>
            <span className="ps-2">{t('models.column.at', { tokens: formats.contextSize(chosen.contextLength) })}</span>
          </div>
          <ul aria-label={t('models.installed')}>
            {sorted.map((model) => (
              <li key={model.id}>
                <Row
                  model={model}
                  machine={machine}
                  chosen={chosen}
                  current={model.id === current?.id}
                  onOpen={() => void loadDetails(model.id)}
                />
              </li>
            ))}
          </ul>
          <ExternalModels />
        </div>
        <Footer models={models} machine={machine} />
      </div>
      {current && <Details model={current} />}
    </div>
  );
}

type RowProps = { model: ModelEntry; machine: Machine | null; chosen: Chosen; current: boolean; onOpen: () => void };

function Row({ model, machine, chosen, current, onOpen }: RowProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const status = useEngine((state) => state.status);
  const inMemory = (status.phase === 'ready' || status.phase === 'busy') && status.modelId === model.id;
  const loading = status.phase === 'loading' && status.modelId === model.id;
  const { description } = model;
  const speed = speedOf(
    model.name,
    usePerformance((state) => state.runs),
  );
  return (
    <button
      type="button"
      aria-current={current}
      onClick={onOpen}
      className={`${columns} min-h-14 w-full border-b border-line text-start ring-inset-focus ${current ? 'bg-ink-soft' : 'hover:bg-hover'}`}
    >
      <span className="min-w-0">
        <span className="flex items-center gap-2">
          <bdi className="truncate font-semibold">{model.name}</bdi>
          {inMemory && <span className="size-1.75 flex-none rounded-full bg-ok" />}
        </span>
        <span
          className={`block truncate text-xs ${model.unmounted ? 'text-warn-text' : model.missing ? 'text-bad-text' : 'text-fg-3'}`}
        >
          {about()}
        </span>
      </span>
      <span className="max-xl:hidden">
        {description && description.layers.length > 0 && <Layers description={description} />}
      </span>
      <span className="truncate tabular-nums max-xl:hidden">{(description && typeOf(description)) ?? MISSING}</span>
      <span className="text-end tabular-nums">{description ? formats.fileSize(description.weightBytes) : MISSING}</span>
      <span className="text-end tabular-nums max-xl:hidden">
        {description ? formats.contextSize(description.contextLength) : MISSING}
      </span>
      <span className="text-end tabular-nums max-xl:hidden">
        {speed ? formats.exact(Math.round(speed.median)) : MISSING}
      </span>
      <span className="ps-2">
        {description && machine && !model.missing && <FitTag verdict={fitOf(description, machine, chosen).verdict} />}
      </span>
    </button>
  );

  function about(): string {
    if (model.unmounted) return t('model.unmounted', { path: model.path ?? '' });
    if (model.missing) return t('model.missing', { path: model.path ?? '' });
    if (model.builtIn) return t('models.builtIn');
    if (loading) return t('models.loading', { share: formats.percent(status.done / Math.max(1, status.total)) });
    return [
      description && t(`models.form.${description.container}`),
      model.presetOf !== null && t('models.preset'),
      model.external && t('models.linked'),
      inMemory && t('models.inMemory'),
    ]
      .filter(Boolean)
      .join(', ');
  }
}

function Layers({ description }: { description: NonNullable<ModelEntry['description']> }) {
  const strip = stripOfModel(description);
  const label = useStripLabel(strip);
  return (
    <span className="flex flex-col gap-1.5">
      <LayerStrip strip={strip} />
      <span className="truncate text-xs text-fg-3">{label}</span>
    </span>
  );
}

function Footer({ models, machine }: { models: ModelEntry[]; machine: Machine | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const own = models.filter((model) => model.presetOf === null);
  const linked = own.filter((model) => model.external);
  const sum = (some: readonly ModelEntry[]) =>
    some.reduce((bytes, model) => bytes + (model.description?.weightBytes ?? 0), 0);
  return (
    <div className="flex h-11 flex-none items-center gap-4 border-t border-line px-5 text-xs whitespace-nowrap text-fg-2 tabular-nums">
      <span>{t('models.count', { count: own.length, size: formats.fileSize(sum(own)) })}</span>
      {linked.length > 0 && (
        <span className="truncate text-fg-3 max-xl:hidden">
          {t('models.linkedSize', { size: formats.fileSize(sum(linked)) })}
        </span>
      )}
      <CheckAll models={own} />
      {machine && (
        <span className="ms-auto truncate text-fg-3">
          {t('models.free', { size: formats.fileSize(machine.diskFree) })}
        </span>
      )}
    </div>
  );
}
