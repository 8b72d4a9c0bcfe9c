import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { deviceInUse, failureOf, type ModelEntry } from '../../app/protocol/index.ts';
import { choose, core, isElectron } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { removeModel } from '../models/remove.ts';
import { useSettings } from '../settings/store.ts';
import { type Fit, fitOf, modelById, useEngine } from '../shell/engine.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Tag, type Tone } from '../ui/choice.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Popover, PopoverLine } from '../ui/popover.tsx';
import { mainType, matchingModels } from './model-list.ts';
import { actions, useChat } from './store.ts';

/** The model of this chat: the one on screen, the new chat's, the default, the built-in one. */
export function useChatModel(): ModelEntry | null {
  const models = useEngine((state) => state.models);
  const own = useChat((state) => (state.chosen === null ? state.fresh.modelId : (state.open?.chat.modelId ?? null)));
  const fallback = useSettings((state) => state.values.defaultModelId);
  return modelById(models, own ?? fallback) ?? models.find((model) => model.builtIn) ?? null;
}

export function ModelPicker() {
  const { t } = useTranslation();
  const formats = useFormats();
  const model = useChatModel();
  const status = useEngine((state) => state.status);
  const open = useChat((state) => state.overlay.at === 'model-picker');
  const { setOverlay, closeOverlay } = actions;
  const loading =
    status.at === 'loading' && status.modelId === model?.id && status.total > 0
      ? formats.percent(status.done / status.total)
      : null;
  const name = model?.name ?? t('model.none');
  const type = model?.description ? mainType(model.description) : null;
  return (
    <Popover
      label={t('model.choose')}
      width={316}
      open={open}
      onOpen={(next) => (next ? setOverlay({ at: 'model-picker' }) : closeOverlay('model-picker'))}
      trigger={
        <button
          type="button"
          className="inline-flex h-row min-w-0 items-center gap-1.5 rounded-sm px-2 font-medium whitespace-nowrap text-fg-2 hover:bg-hover data-[state=open]:bg-select"
        >
          <Icon name="models" className="text-fg-3" />
          <span className="sr-only">{t('model.label')}</span>
          <span className="min-w-8 truncate">{name}</span>
          {(loading ?? type) && (
            <span className="font-normal text-fg-3 tabular-nums @max-[28rem]:sr-only">{loading ?? type}</span>
          )}
          <Icon name="down" size={14} className="text-fg-3" />
        </button>
      }
    >
      <ModelList current={model} close={() => closeOverlay('model-picker')} />
    </Popover>
  );
}

function ModelList({ current, close }: { current: ModelEntry | null; close: () => void }) {
  const { t } = useTranslation();
  const models = useEngine((state) => state.models);
  const chosen = useChat((state) => state.chosen);
  const { update } = actions;
  const [query, setQuery] = useState('');
  const pick = (model: ModelEntry) => {
    if (chosen) void update({ modelId: model.id });
    else useChat.setState((state) => ({ fresh: { ...state.fresh, modelId: model.id } }));
    void core.call('models.load', { modelId: model.id }).catch(() => {});
    close();
  };
  return (
    <>
      <label className="flex h-7.5 flex-none items-center gap-2 px-2.5">
        <Icon name="search" size={14} className="text-fg-3" />
        <input
          aria-label={t('model.search')}
          placeholder={t('model.choose')}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          className="min-w-0 flex-1 bg-transparent focus-visible:outline-none"
        />
      </label>
      <PopoverLine />
      <ul aria-label={t('model.list')} className="min-h-0 overflow-y-auto">
        {matchingModels(models, query).map((model) => (
          <ModelRow key={model.id} model={model} current={model.id === current?.id} onPick={() => pick(model)} />
        ))}
      </ul>
      <PopoverLine />
      <AddModel onAdded={pick} />
    </>
  );
}

const fitTones: Record<Fit, Tone> = { fits: 'ok', tight: 'warn', 'too-large': 'bad' };

function ModelRow({ model, current, onPick }: { model: ModelEntry; current: boolean; onPick: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { status, devices } = useEngine();
  const { device, contextLength } = useSettings((state) => state.values);
  const memory = deviceInUse(devices, device)?.memoryBytes ?? 0;
  const context = contextLength ?? model.description?.contextLength ?? 0;
  const fit = fitOf(model, Math.min(context, model.description?.contextLength ?? context), memory);
  const inMemory = (status.at === 'ready' || status.at === 'busy') && status.modelId === model.id;
  const unusable = model.missing || model.description?.supported === false;
  return (
    <li className={`group flex items-center rounded-sm ${current ? 'bg-ink-soft' : 'hover:bg-hover'}`}>
      <button
        type="button"
        disabled={unusable}
        aria-current={current}
        onClick={onPick}
        className="flex min-h-11 min-w-0 flex-1 items-center gap-2 rounded-sm px-2.5 ring-inset-focus disabled:opacity-60"
      >
        <span className="w-3.5 flex-none text-ink-text">{current && <Icon name="check" size={14} />}</span>
        <span className="min-w-0 flex-1">
          <bdi className="block truncate font-medium">{model.name}</bdi>
          <span className={`block truncate text-xs tabular-nums ${unusable ? 'text-bad-text' : 'text-fg-3'}`}>
            {about()}
          </span>
        </span>
        {!unusable && fit && <Tag tone={fitTones[fit]}>{t(`model.fit.${fit}`)}</Tag>}
      </button>
      {!model.builtIn && (
        <IconButton
          small
          icon="close"
          label={t('model.forget', { name: model.name })}
          className="me-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100"
          onClick={() => void removeModel(model, formats)}
        />
      )}
    </li>
  );

  function about(): string {
    if (model.away) return t('model.away', { path: model.path ?? '' });
    if (model.missing) return t('model.missing', { path: model.path ?? '' });
    if (model.description?.supported === false) return model.description.problems[0] ?? t('model.unsupported');
    if (inMemory) return t('model.inMemory');
    const size = model.description ? formats.memory(model.description.weightBytes) : '';
    return model.builtIn ? t('model.builtIn', { size }) : size;
  }
}

/** Any file or folder by its path; where the system has a dialog, through it. */
export function AddModel({ onAdded }: { onAdded: (model: ModelEntry) => void }) {
  const { t } = useTranslation();
  const [path, setPath] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const add = async (chosen: string) => {
    setBusy(true);
    setProblem(null);
    try {
      onAdded(await core.call('models.add', { path: chosen }));
      setPath('');
    } catch (error) {
      const failure = failureOf(error);
      setProblem(failure.hint ?? `${t(`errors.${failure.code}.what`)} ${failure.message}`);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim() !== '') void add(path.trim());
  };
  const ask = async (what: 'model-file' | 'model-folder') => {
    const [chosen] = (await choose(what)) ?? [];
    if (chosen) void add(chosen);
  };
  return (
    <form onSubmit={submit} className="px-2.5 py-1.5">
      <div className="flex items-start gap-2">
        <Field
          aria-label={t('model.path')}
          placeholder={t('model.path')}
          value={path}
          problem={problem}
          onChange={(event) => setPath(event.target.value)}
          className="min-w-0 flex-1"
          spellCheck={false}
          dir="ltr"
        />
        <Button type="submit" disabled={busy || path.trim() === ''}>
          {t('model.add')}
        </Button>
      </div>
      {isElectron() && (
        <div className="mt-1.5 flex gap-1">
          <Button kind="quiet" icon="file" onClick={() => void ask('model-file')}>
            {t('model.file')}
          </Button>
          <Button kind="quiet" icon="folder" onClick={() => void ask('model-folder')}>
            {t('model.folder')}
          </Button>
        </div>
      )}
    </form>
  );
}
