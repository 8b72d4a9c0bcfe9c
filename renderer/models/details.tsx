import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { failureOf, type ModelDetails, type ModelEntry } from '../../app/protocol/index.ts';
import { core, reveal } from '../bridge.ts';
import { useChat } from '../chat/store.ts';
import { useFormats } from '../i18n.ts';
import { openChat } from '../shell/commands.ts';
import { useEngine } from '../shell/engine.ts';
import { Button } from '../ui/button.tsx';
import { Tag } from '../ui/choice.tsx';
import { ContextSlider } from './context-slider.tsx';
import { LayerStrip } from './layer-strip.tsx';
import { MemoryBar } from './memory-bar.tsx';
import { removeModel } from './remove.ts';
import { fitOf, type Strip, stripOfModel, typeOf } from './shape.ts';
import { chosenContext, useModels } from './store.ts';

/** Everything about one model that is here, and what can be done with it. */
export function Details({ model }: { model: ModelEntry }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const status = useEngine((state) => state.status);
  const details = useModels((state) => (state.details?.modelId === model.id ? state.details : null));
  const inMemory = (status.at === 'ready' || status.at === 'busy') && status.modelId === model.id;
  const [problem, setProblem] = useState<string | null>(null);
  const run = (work: Promise<unknown>) => {
    setProblem(null);
    work.catch((error) => {
      const failure = failureOf(error);
      setProblem(`${t(`errors.${failure.code}.what`)}. ${failure.message}`);
    });
  };
  const chatWith = () => {
    openChat(null);
    useChat.setState((state) => ({ fresh: { ...state.fresh, modelId: model.id } }));
    void core.call('models.load', { modelId: model.id }).catch(() => {}); // the chat says why
  };
  return (
    <aside
      aria-label={t('models.detailsOf', { name: model.name })}
      className="w-100 flex-none overflow-y-auto border-s border-line px-5 py-5 max-lg:hidden"
    >
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 truncate text-lg font-semibold tracking-tight">{model.name}</h2>
        {inMemory && <Tag tone="ok">{t('model.inMemory')}</Tag>}
      </div>
      <p className="mt-0.5 text-fg-2">{details ? t(`models.kept.${details.kept}`) : '\u00a0'}</p>
      <div className="mt-3.5 flex gap-2">
        <Button kind="primary" disabled={model.missing} onClick={chatWith}>
          {t('commands.new-chat')}
        </Button>
        {inMemory ? (
          <Button onClick={() => run(core.call('models.unload'))}>{t('models.unload')}</Button>
        ) : (
          <Button disabled={model.missing} onClick={() => run(core.call('models.load', { modelId: model.id }))}>
            {t('models.load')}
          </Button>
        )}
      </div>
      {problem && (
        <p role="alert" className="mt-3 text-xs text-bad-text wrap-anywhere">
          {problem}
        </p>
      )}
      {model.description && <Memory description={model.description} />}
      <dl className="mt-5 border-t border-line pt-4">
        <Facts model={model} details={details} />
      </dl>
      {details && <Check details={details} />}
      {details && details.kept !== 'built-in' && (
        <Button
          kind="quiet"
          icon="delete"
          className="mt-4 -ms-2 text-bad-text"
          onClick={() => run(removeModel(model, formats))}
        >
          {details.frees > 0 ? t('models.remove', { size: formats.fileSize(details.frees) }) : t('models.unlink')}
        </Button>
      )}
    </aside>
  );
}

function Memory({ description }: { description: NonNullable<ModelEntry['description']> }) {
  const { t } = useTranslation();
  const { machine, contextStep, kvType } = useModels();
  const strip = stripOfModel(description);
  const fit = machine && fitOf(description, machine, chosenContext({ contextStep, kvType }));
  return (
    <>
      {strip.looks.length > 0 && <Layers strip={strip} />}
      <div className="mt-6 mb-2">
        <ContextSlider title={t('models.column.context')} {...(fit && { memory: fit.total })} />
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

function Facts({ model, details }: { model: ModelEntry; details: ModelDetails | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const show = reveal();
  const { description, path } = model;
  return (
    <>
      {description && (
        <Fact name={t('models.fact.format')}>
          {[t(`models.form.${description.container}`), typeOf(description)].filter(Boolean).join(', ')}
        </Fact>
      )}
      {description && (
        <Fact name={t('models.fact.parameters')}>
          {t('models.millions', { count: formats.exact(Math.round(description.parameters / 1e6)) })}
        </Fact>
      )}
      {details?.origin && (
        <Fact name={t('models.fact.origin')}>
          <bdi className="wrap-anywhere">{details.origin.repository}</bdi>
        </Fact>
      )}
      {details?.checkedAt && (
        <Fact name={t('models.fact.checked')}>{t('models.checkedOn', { day: formats.day(details.checkedAt) })}</Fact>
      )}
      {path && (
        <Fact name={t('models.fact.file')}>
          {show ? (
            <Button kind="link" className="-me-2" onClick={() => show(path)}>
              {t('models.show')}
            </Button>
          ) : (
            <span className="text-xs wrap-anywhere" dir="ltr">
              {path}
            </span>
          )}
        </Fact>
      )}
    </>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex min-h-7 items-start justify-between gap-4">
    <dt className="flex-none text-fg-2">{name}</dt>
    <dd className="min-w-0 text-end tabular-nums">{children}</dd>
  </div>
);

/** Hashes the files again; what is damaged is fetched again. */
function Check({ details }: { details: ModelDetails }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { modelId } = details;
  const share = useModels((state) => state.checking[modelId]);
  const [said, setSaid] = useState<
    { at: 'rest' | 'busy' | 'fine' } | { at: 'damaged'; files: string[]; again: number }
  >({
    at: 'rest',
  });
  if (details.kept !== 'downloaded') return null;
  const check = async () => {
    setSaid({ at: 'busy' });
    try {
      const { damaged, again } = await core.call('models.verify', { modelId });
      setSaid(damaged.length === 0 ? { at: 'fine' } : { at: 'damaged', files: damaged, again });
      if (damaged.length === 0) void useModels.getState().loadDetails(modelId);
    } catch {
      setSaid({ at: 'rest' });
    }
  };
  const repair = () =>
    core.call('models.repair', { modelId }).then(
      () => useModels.setState({ tab: 'downloads' }),
      () => setSaid({ at: 'rest' }),
    );
  return (
    <div className="mt-3 flex flex-wrap items-center gap-2" role="status">
      <Button disabled={said.at === 'busy'} onClick={() => void check()}>
        {said.at === 'busy' ? t('models.checking', { share: formats.percent(share ?? 0) }) : t('models.check')}
      </Button>
      {said.at === 'fine' && <span className="text-xs text-ok-text">{t('models.intact')}</span>}
      {said.at === 'damaged' && (
        <>
          <span className="text-xs text-bad-text wrap-anywhere">
            {t('models.damaged', { files: said.files.join(', '), size: formats.fileSize(said.again) })}
          </span>
          <Button kind="danger" onClick={() => void repair()}>
            {t('models.repair')}
          </Button>
        </>
      )}
    </div>
  );
}
