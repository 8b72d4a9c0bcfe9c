import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry, RemoteEngine } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { useEngine } from '../../stores/engine.ts';
import { chatWith } from '../../stores/models/chat-with.ts';
import { useRemoteEngines } from '../../stores/remote-engines.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Switch, Tag } from '../../ui/choice.tsx';
import { Card } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { Menu, MenuItem } from '../../ui/overlays/menu.tsx';
import { EngineForm } from './engine-form.tsx';

/** Remote servers whose models can be used in chats; none until one is added. */
export function RemoteEngines() {
  const { t } = useTranslation();
  const { engines, load } = useRemoteEngines();
  const [editing, setEditing] = useState<RemoteEngine | 'new' | null>(null);
  const [removing, setRemoving] = useState<RemoteEngine | null>(null);
  useEffect(() => {
    load().catch(() => {});
  }, [load]);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-176 px-5 py-7">
        <div className="flex items-start gap-3">
          <Icon name="web" size={20} className="mt-0.5 flex-none text-fg-3" />
          <div className="min-w-0 flex-1">
            <h2 className="text-lg font-semibold tracking-tight">{t('remoteEngines.title')}</h2>
            <p className="mt-0.5 text-fg-2">{t('remoteEngines.about')}</p>
            <p className="mt-1.5 text-fg-2">{t('remoteEngines.sent')}</p>
          </div>
        </div>
        <div className="mt-5">
          <Button kind="primary" icon="attach" onClick={() => setEditing('new')}>
            {t('remoteEngines.add')}
          </Button>
        </div>
        {(engines ?? []).map((engine) => (
          <EngineCard
            key={engine.id}
            engine={engine}
            onEdit={() => setEditing(engine)}
            onRemove={() => setRemoving(engine)}
          />
        ))}
      </div>
      {editing && <EngineForm engine={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
      {removing && (
        <ConfirmDialog
          title={t('remoteEngines.removeTitle', { name: removing.name })}
          description={t('remoteEngines.removeAbout')}
          cancel={t('mcp.cancel')}
          action={t('remoteEngines.remove')}
          onConfirm={() => core.call('remoteEngines.remove', { engineId: removing.id })}
          onClose={() => setRemoving(null)}
        />
      )}
    </div>
  );
}

type EngineCardProps = { engine: RemoteEngine; onEdit: () => void; onRemove: () => void };

function EngineCard({ engine, onEdit, onRemove }: EngineCardProps) {
  const { t } = useTranslation();
  const models = useEngine((state) => state.models).filter(({ remote }) => remote?.engineId === engine.id);
  return (
    <section aria-label={engine.name}>
      <Card className="mt-5">
        <div className="flex items-center gap-2 px-4 py-3">
          <div className="min-w-0 flex-1">
            <div className="flex items-center gap-2">
              <h3 className="truncate font-semibold">
                <bdi>{engine.name}</bdi>
              </h3>
              {engine.plain && <Tag tone="warn">{t('remoteEngines.plain')}</Tag>}
            </div>
            <p className={`mt-0.5 truncate text-xs ${engine.here ? 'text-fg-3' : 'text-warn-text'}`}>
              {engine.here
                ? t('remoteEngines.here', { host: engine.host })
                : t('remoteEngines.leaves', { host: engine.host })}
            </p>
          </div>
          <Menu
            label={t('remoteEngines.more', { name: engine.name })}
            align="end"
            trigger={<IconButton small icon="more" label={t('remoteEngines.more', { name: engine.name })} />}
          >
            <MenuItem takesFocus onSelect={onEdit}>
              {t('remoteEngines.edit')}
            </MenuItem>
            <MenuItem danger takesFocus onSelect={onRemove}>
              {t('remoteEngines.remove')}
            </MenuItem>
          </Menu>
        </div>
        <ul>
          {models.map((model) => (
            <ModelRow key={model.id} model={model} />
          ))}
        </ul>
      </Card>
    </section>
  );
}

function ModelRow({ model }: { model: ModelEntry }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { remote } = model;
  if (!remote) return null;
  const context = remote.contextLength;
  const setPictures = (pictures: boolean) =>
    void core.call('remoteEngines.setPictures', { modelId: model.id, pictures }).catch(() => {}); // it goes back to what it was
  return (
    <li className="flex min-h-12 items-center gap-4 border-t border-line px-4 py-2">
      <span className="min-w-0 flex-1">
        <bdi className="block truncate font-medium">{model.name}</bdi>
        <bdi dir="ltr" className="block truncate font-mono text-xs text-fg-3" title={remote.model}>
          {remote.model}
        </bdi>
      </span>
      {context !== null && (
        <span className="text-xs whitespace-nowrap text-fg-2 tabular-nums max-md:hidden">
          {t('remoteEngines.context', { tokens: formats.contextSize(context) })}
        </span>
      )}
      <span className="flex items-center gap-2 text-xs text-fg-3">
        {t('remoteEngines.pictures')}
        <Switch
          label={t('remoteEngines.picturesOf', { name: model.name })}
          checked={remote.pictures}
          onChange={setPictures}
        />
      </span>
      <Button onClick={() => chatWith(model.id)}>{t('commands.new-chat')}</Button>
    </li>
  );
}
