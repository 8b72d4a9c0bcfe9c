import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  canChat,
  type Failure,
  failureOf,
  type ModelDetails,
  type ModelEntry,
  whyNotLatent,
} from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { removeModel } from '../../commands/remove-model.ts';
import { useFormats } from '../../i18n.ts';
import { ModelSettingsDialog } from '../../parts/model-settings.tsx';
import { Problem } from '../../parts/problem.tsx';
import { sentenceOfCode } from '../../sentences.ts';
import { useEngine } from '../../stores/engine.ts';
import { chatWith } from '../../stores/models/chat-with.ts';
import { fitOf, type Strip, stripOfModel } from '../../stores/models/memory-fit.ts';
import { useQuality } from '../../stores/models/quality.ts';
import { useChosenContext, useModels } from '../../stores/models/store.ts';
import { usePerformance } from '../../stores/performance/store.ts';
import { useShell } from '../../stores/shell.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Segmented, Tag } from '../../ui/choice.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Menu, MenuItem } from '../../ui/overlays/menu.tsx';
import { ContextSlider } from '../memory/context-slider.tsx';
import { LayerStrip } from '../memory/layer-strip.tsx';
import { MemoryBar } from '../memory/memory-bar.tsx';
import { QualityTab } from '../quality/tab.tsx';
import { ShrinkDialog } from '../shrinking/dialog.tsx';
import { LatentDialog } from '../shrinking/latent-dialog.tsx';
import { ShrinkState } from '../shrinking/shrink-state.tsx';
import { TrialDialog } from '../trial/dialog.tsx';
import { Check } from './check.tsx';
import { isOurs } from './check-files.ts';
import { ModelInfo } from './model-info.tsx';
import { QualityCard } from './quality-card.tsx';

/** Everything about one installed model, and its actions. */
export function Details({ model }: { model: ModelEntry }) {
  const { t } = useTranslation();
  const status = useEngine((state) => state.status);
  const details = useModels((state) => (state.details?.modelId === model.id ? state.details : null));
  const inMemory = (status.phase === 'ready' || status.phase === 'busy') && status.modelId === model.id;
  const loading = status.phase === 'loading' && status.modelId === model.id ? status : null;
  const [problem, setProblem] = useState<Failure | null>(null);
  const [configuring, setConfiguring] = useState(false);
  const [trying, setTrying] = useState(false);
  const [making, setMaking] = useState<'weights' | 'context' | null>(null);
  const shrinking = useModels((state) => state.shrinking);
  const run = (work: Promise<unknown>) => {
    setProblem(null);
    work.catch((error) => {
      const failure = failureOf(error);
      // The user who cancelled it knows.
      if (failure.code !== 'cancelled') setProblem(failure);
    });
  };
  const writes = canChat(model);
  const worth = useQuality((state) => state.shown) && writes;
  const original = useEngine(
    ({ models }) => models.find(({ name }) => name === details?.origin?.repository)?.id ?? null,
  );
  const busy = model.missing || shrinking?.status === 'running';
  const whyNot = model.description && whyNotLatent(model.description);
  const benchmark = () => {
    useShell.getState().go({ kind: 'performance' });
    usePerformance.setState({ tab: 'overview', model: model.name });
    void usePerformance.getState().start([model.id]);
  };
  const duplicate = async () => {
    const preset = await core.call('models.duplicate', {
      modelId: model.id,
      name: t('models.presetName', { name: model.name }),
    });
    useModels.setState({ installed: preset.id });
  };
  return (
    <aside
      aria-label={t('models.detailsOf', { name: model.name })}
      className="w-100 flex-none overflow-y-auto border-line px-5 py-5 max-xl:w-80 max-lg:max-h-1/2 max-lg:w-full max-lg:border-t lg:border-s"
    >
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 truncate text-lg font-semibold tracking-tight">
          <bdi>{model.name}</bdi>
        </h2>
        {inMemory && <Tag tone="ok">{t('model.inMemory')}</Tag>}
        <span className="ms-auto">
          <Menu
            label={t('models.more', { name: model.name })}
            align="end"
            trigger={<IconButton icon="more" label={t('models.more', { name: model.name })} />}
          >
            <MenuItem onSelect={() => setConfiguring(true)}>{t('models.settings')}</MenuItem>
            <MenuItem onSelect={() => run(duplicate())}>{t('models.duplicate')}</MenuItem>
            {writes && (
              <>
                <MenuItem disabled={busy} onSelect={() => setMaking('weights')}>
                  {t('models.smaller.ask')}
                </MenuItem>
                <MenuItem
                  disabled={busy || whyNot !== null || !model.description}
                  about={whyNot ? sentenceOfCode(whyNot) : undefined}
                  onSelect={() => setMaking('context')}
                >
                  {t('models.latent.ask')}
                </MenuItem>
              </>
            )}
          </Menu>
        </span>
      </div>
      <p className="mt-0.5 text-fg-2">{details ? t(`models.ownership.${details.ownership}`) : '\u00a0'}</p>
      <div className="mt-3.5 flex flex-wrap gap-2">
        {writes && (
          <>
            <Button kind="primary" disabled={model.missing} onClick={() => chatWith(model.id)}>
              {t('commands.new-chat')}
            </Button>
            <Button icon="performance" disabled={model.missing} onClick={benchmark}>
              {t('models.benchmark')}
            </Button>
          </>
        )}
        {!writes ? null : loading ? (
          <Button onClick={() => run(core.call('models.cancelLoad'))}>{t('models.cancelLoad')}</Button>
        ) : inMemory ? (
          <Button onClick={() => run(core.call('models.unload'))}>{t('models.unload')}</Button>
        ) : (
          <Button disabled={model.missing} onClick={() => run(core.call('models.load', { modelId: model.id }))}>
            {t('models.load')}
          </Button>
        )}
      </div>
      {model.description !== null && !writes && (
        <p className="text-fg-2">
          {model.description.supported
            ? t(model.description.reranker ? 'models.isReranker' : 'models.isEncoder')
            : t('model.unsupported')}
        </p>
      )}
      {loading && <Loading done={loading.done} total={loading.total} />}
      {problem && <Problem failure={problem} className="mt-3" />}
      {shrinking?.modelId === model.id && (
        <div className="mt-3.5">
          <ShrinkState shrinking={shrinking} />
        </div>
      )}
      {writes && (
        <div className="mt-4">
          <Segmented
            label={t('models.quality.show')}
            value={worth ? 'worth' : 'about'}
            options={[
              { value: 'about', name: t('models.quality.aboutTab') },
              { value: 'worth', name: t('models.quality.tab') },
            ]}
            onChange={(value) => useQuality.setState({ shown: value === 'worth' })}
          />
        </div>
      )}
      {worth ? (
        <QualityTab key={model.id} model={model} />
      ) : (
        <About
          model={model}
          details={details}
          onTry={() => setTrying(true)}
          onConfigure={() => setConfiguring(true)}
          run={run}
        />
      )}
      {making === 'weights' && <ShrinkDialog model={model} onClose={() => setMaking(null)} />}
      {making === 'context' && <LatentDialog model={model} onClose={() => setMaking(null)} />}
      {trying && <TrialDialog made={model.id} original={original} onClose={() => setTrying(false)} />}
      {configuring && <ModelSettingsDialog key={model.id} model={model} onClose={() => setConfiguring(false)} />}
    </aside>
  );
}

type AboutProps = {
  model: ModelEntry;
  details: ModelDetails | null;
  onTry: () => void;
  onConfigure: () => void;
  run: (work: Promise<unknown>) => void;
};

/** What a model is, needs and takes. */
function About({ model, details, onTry, onConfigure, run }: AboutProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <>
      {details?.quality && (
        <QualityCard quality={details.quality} onTry={canChat(model) && !model.missing ? onTry : null} />
      )}
      {model.description && <Memory description={model.description} />}
      <ModelInfo model={model} details={details} onConfigure={onConfigure} />
      {details && !model.unmounted && <Check key={model.id} details={details} />}
      {details && details.ownership !== 'built-in' && !(model.unmounted && isOurs(details)) && (
        <Button
          kind="quiet"
          icon="delete"
          className="mt-4 -ms-2 text-bad-text"
          onClick={() => run(removeModel(model, formats))}
        >
          {details.frees > 0 ? t('models.remove', { size: formats.fileSize(details.frees) }) : t('models.unlink')}
        </Button>
      )}
    </>
  );
}

function Loading({ done, total }: { done: number; total: number }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const share = total > 0 ? done / total : 0;
  return (
    <div className="mt-3">
      <Meter
        parts={[{ share, tone: 'ink' }]}
        label={t('models.loading', { share: formats.percent(share) })}
        className="h-1.5 w-full"
      />
      <p role="status" className="mt-1.5 text-xs text-fg-2 tabular-nums">
        {t('models.loading', { share: formats.percent(share) })}
      </p>
    </div>
  );
}

function Memory({ description }: { description: NonNullable<ModelEntry['description']> }) {
  const { t } = useTranslation();
  const machine = useModels((state) => state.machine);
  const chosen = useChosenContext();
  const strip = stripOfModel(description);
  const fit = machine && fitOf(description, machine, chosen);
  return (
    <>
      {strip.looks.length > 0 && <Layers strip={strip} />}
      <div className="mt-6 mb-2">
        <ContextSlider title={t('models.column.context')} model={description} {...(fit && { memory: fit.total })} />
      </div>
      {machine && fit && <MemoryBar fit={fit} limit={machine.limitBytes} />}
    </>
  );
}

function Layers({ strip }: { strip: Strip }) {
  const { t } = useTranslation();
  const fixed = strip.looks.filter((look) => look === 'fixed').length;
  return (
    <>
      <div className="mt-6 mb-2 flex justify-between">
        <span className="font-semibold">{t('models.column.layers')}</span>
        <span className="text-fg-3 tabular-nums">{strip.looks.length}</span>
      </div>
      <LayerStrip large strip={strip} />
      <div className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-xs text-fg-2 tabular-nums">
        {fixed > 0 && <Legend tone="bg-edge opacity-70">{t('models.fixed', { count: fixed })}</Legend>}
        <Legend tone="bg-series-1">{t('models.grows', { count: strip.looks.length - fixed })}</Legend>
      </div>
    </>
  );
}

const Legend = ({ tone, children }: { tone: string; children: ReactNode }) => (
  <span className="flex items-center gap-1.5">
    <span className={`size-2 rounded-[2px] ${tone}`} />
    {children}
  </span>
);
