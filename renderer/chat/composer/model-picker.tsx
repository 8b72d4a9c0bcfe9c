import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { canChat, forecast, type ModelEntry } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { removeModel } from '../../commands/remove-model.ts';
import { useFormats } from '../../i18n.ts';
import { FitTag } from '../../parts/fit-tag.tsx';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useEngine } from '../../stores/engine.ts';
import { mainType, matchingModels } from '../../stores/models/model-list.ts';
import { useModels } from '../../stores/models/store.ts';
import { leaves } from '../../stores/remote-engines.ts';
import { useSettings } from '../../stores/settings.ts';
import { useShell } from '../../stores/shell.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Popover, PopoverLine } from '../../ui/overlays/popover.tsx';

export function ModelPicker() {
  const { t } = useTranslation();
  const formats = useFormats();
  const model = useChatModel();
  const status = useEngine((state) => state.status);
  const open = useChat((state) => state.overlay.kind === 'model-picker');
  const { setOverlay, closeOverlay } = actions;
  const loading =
    status.phase === 'loading' && status.modelId === model?.id && status.total > 0
      ? formats.percent(status.done / status.total)
      : null;
  const name = model?.name ?? t('model.none');
  const type = model?.remote?.host ?? (model?.description ? mainType(model.description) : null);
  return (
    <Popover
      label={t('model.choose')}
      width={316}
      open={open}
      onOpen={(next) => (next ? setOverlay({ kind: 'model-picker' }) : closeOverlay('model-picker'))}
      trigger={
        <button
          type="button"
          className="inline-flex h-row min-w-0 items-center gap-1.5 rounded-sm px-2 font-medium whitespace-nowrap text-fg-2 hover:bg-hover data-[state=open]:bg-select"
        >
          <Icon name={model?.remote ? 'web' : 'models'} className={leaves(model) ? 'text-warn-text' : 'text-fg-3'} />
          <span className="sr-only">{t('model.label')}</span>
          <span className="min-w-8 truncate">{name}</span>
          {(loading ?? type) && (
            <span
              className={`truncate font-normal tabular-nums @max-[28rem]:sr-only ${leaves(model) ? 'text-warn-text' : 'text-fg-3'}`}
            >
              {loading ?? type}
            </span>
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
        {matchingModels(models.filter(canChat), query).map((model) => (
          <ModelRow key={model.id} model={model} current={model.id === current?.id} onPick={() => pick(model)} />
        ))}
      </ul>
      <PopoverLine />
      {current && <ForNewChats model={current} />}
      <button
        type="button"
        onClick={() => {
          close();
          useModels.setState({ tab: 'catalogue' });
          useShell.getState().go({ kind: 'models' });
        }}
        className="flex h-7.5 flex-none items-center gap-2 rounded-sm px-2.5 text-start ring-inset-focus hover:bg-hover"
      >
        <Icon name="download" size={14} className="text-fg-3" />
        {t('model.more')}
      </button>
    </>
  );
}

/** If none is chosen, new chats take the most recently used model. */
function ForNewChats({ model }: { model: ModelEntry }) {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const chosen = values.defaultModelId === model.id;
  return (
    <button
      type="button"
      role="switch"
      aria-checked={chosen}
      onClick={() => void set({ defaultModelId: chosen ? null : model.id }).catch(() => {})} // it goes back to what it was
      className="flex min-h-7.5 flex-none items-center gap-2 rounded-sm px-2.5 text-start ring-inset-focus hover:bg-hover"
    >
      <span className="grid w-3.5 flex-none place-items-center text-ink-text">
        {chosen ? <Icon name="check" size={14} /> : <Icon name="new" size={14} className="text-fg-3" />}
      </span>
      <bdi className="min-w-0 flex-1 truncate">{t('model.forNewChats', { name: model.name })}</bdi>
    </button>
  );
}

/** The context of a chat if none was chosen. */
const USUAL_CONTEXT = 32_768;

function ModelRow({ model, current, onPick }: { model: ModelEntry; current: boolean; onPick: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const status = useEngine((state) => state.status);
  const wanted = useSettings((state) => state.values.contextLength);
  const kvType = useSettings((state) => state.values.kvType);
  const machine = useModels((state) => state.machine);
  // The same forecast as for downloads and loads.
  const contextLength = model.settings.contextLength ?? wanted ?? USUAL_CONTEXT;
  const fit = machine && model.description && forecast(model.description, machine, { contextLength, kvType });
  const inMemory = (status.phase === 'ready' || status.phase === 'busy') && status.modelId === model.id;
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
          <span
            className={`block truncate text-xs tabular-nums ${unusable ? 'text-bad-text' : leaves(model) ? 'text-warn-text' : 'text-fg-3'}`}
          >
            {about()}
          </span>
        </span>
        {!unusable && fit && <FitTag verdict={fit.verdict} />}
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
    const { remote } = model;
    if (remote) return t(remote.here ? 'remoteEngines.here' : 'remoteEngines.leaves', { host: remote.host });
    if (model.unmounted) return t('model.unmounted', { path: model.path ?? '' });
    if (model.missing) return t('model.missing', { path: model.path ?? '' });
    if (model.description?.supported === false) return t('model.unsupported');
    if (inMemory) return t('model.inMemory');
    const size = model.description ? formats.memory(model.description.weightBytes) : '';
    return model.builtIn ? t('model.builtIn', { size }) : size;
  }
}
