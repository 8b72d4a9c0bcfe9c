import { useTranslation } from 'react-i18next';
import { deviceInUse, type EngineStatus } from '../../app/protocol/index.ts';
import { core, isMac, useConnection } from '../bridge.ts';
import { useKeysHint } from '../commands/command-keys.ts';
import { useFormats } from '../i18n.ts';
import { useChatModel } from '../stores/chat/chat-model.ts';
import { modelById, useEngine } from '../stores/engine.ts';
import { leaves } from '../stores/remote-engines.ts';
import { useServer } from '../stores/server.ts';
import { useSettings } from '../stores/settings.ts';
import { useShell } from '../stores/shell.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Meter, type MeterPart, resourceParts } from '../ui/meter.tsx';

type Tone = 'ok' | 'warn' | 'bad' | 'off' | 'ink';
const dots: Record<Tone, string> = { ok: 'bg-ok', warn: 'bg-warn', bad: 'bg-bad', off: 'bg-edge', ink: 'bg-ink' };

/** One line: the engine's activity and its use of device memory. Below: the promise, and settings. */
export function Status() {
  const { t } = useTranslation();
  const place = useShell((state) => state.place.kind);
  const go = useShell((state) => state.go);
  const keys = useKeysHint('settings');
  return (
    <div className="flex-none px-2 pt-2.5 pb-3">
      <EngineLine />
      <ServerLine />
      <div className="-mx-1.5 -mb-1 flex items-center gap-0.5">
        <span className="flex min-h-row min-w-0 items-center gap-1.5 px-1.5 text-xs leading-4 text-balance text-fg-2">
          <Destination />
        </span>
        <IconButton
          icon="settings"
          label={t('commands.settings')}
          {...keys}
          on={place === 'settings'}
          className="ms-auto flex-none"
          onClick={() => go({ kind: 'settings', section: 'appearance' })}
        />
      </div>
    </div>
  );
}

/** The destination of what is typed in the current chat. */
function Destination() {
  const { t } = useTranslation();
  const model = useChatModel();
  const inChat = useShell((state) => state.place.kind === 'chat');
  if (inChat && leaves(model)) {
    return (
      <>
        <Icon name="web" className="flex-none text-warn-text" />
        <span className="text-warn-text wrap-anywhere">{t('status.leaves', { host: model.remote.host })}</span>
      </>
    );
  }
  return (
    <>
      <Icon name="privacy" className="flex-none text-fg-3" />
      {isMac() ? t('status.privateMac') : t('status.private')}
    </>
  );
}

/** Shown only while the server is on. */
function ServerLine() {
  const { t } = useTranslation();
  const state = useServer((server) => server.state);
  const running = useServer(({ requests }) => requests.filter((one) => one.state === 'running').length);
  const go = useShell((shell) => shell.go);
  if (state.phase !== 'on' && state.phase !== 'failed') return null;
  return (
    <button
      type="button"
      onClick={() => go({ kind: 'server' })}
      className="-mx-1.5 flex h-6 items-center gap-2 rounded-sm px-1.5 text-xs text-fg-2 tabular-nums hover:bg-hover"
    >
      <span className={`size-1.75 flex-none rounded-full ${dots[state.phase === 'on' ? 'ok' : 'bad']}`} />
      {state.phase === 'failed'
        ? t('status.serverFailed')
        : running > 0
          ? t('status.serverBusy', { count: running })
          : state.network.status === 'on'
            ? t('status.serverNetwork', { port: state.network.port })
            : t('status.serverOn', { port: state.port })}
    </button>
  );
}

function EngineLine() {
  const { t } = useTranslation();
  const formats = useFormats();
  const connection = useConnection((state) => state.status);
  const { status, restarted, devices, models } = useEngine();
  const device = deviceInUse(
    devices,
    useSettings((state) => state.values.device),
  );
  const total = device?.memoryBytes ?? 0;
  const fallback = fallbackReasonOf(status);
  const used = status.phase === 'ready' || status.phase === 'busy' ? status.memoryBytes : 0;
  const tone = connection === 'open' ? toneOf(status, restarted) : 'bad';
  const memory =
    total > 0 && status.phase !== 'loading' && connection === 'open'
      ? t('status.memory', {
          used: formats.memoryFigure(used),
          total: formats.memory(total),
        })
      : '';
  const meter: MeterPart[] =
    status.phase === 'loading'
      ? [{ share: status.done / Math.max(1, status.total), tone: 'ink' }]
      : resourceParts(used, 0, total);
  return (
    <div role="status" aria-label={t('status.label')}>
      <div className="flex items-center gap-2 text-xs text-fg-2 tabular-nums">
        <span className={`size-1.75 flex-none rounded-full ${dots[tone]} ${tone === 'ink' ? 'animate-breathe' : ''}`} />
        <span className="truncate" title={fallback}>
          {connection === 'open' ? sentence() : t(`status.${connection === 'locked' ? 'gone' : connection}`)}
        </span>
        <span className="ms-auto whitespace-nowrap text-fg-3">{memory}</span>
        {status.phase === 'loading' && (
          <IconButton
            small
            icon="close"
            label={t('models.cancelLoad')}
            className="-my-1"
            onClick={() => void core.call('models.cancelLoad')}
          />
        )}
      </div>
      {total > 0 && <Meter parts={meter} label={memory || sentence()} className="my-2 h-1 w-full" />}
    </div>
  );

  function sentence(): string {
    if (status.phase === 'loading') {
      const share = status.total > 0 ? formats.percent(status.done / status.total) : '';
      return t('status.loading', { model: modelById(models, status.modelId)?.name ?? '', share });
    }
    if (status.phase === 'restarting') return t('status.restarting');
    if (status.phase === 'stopped') return t('status.stopped');
    if (restarted) return t('status.restarted');
    if (fallback !== undefined) return t('status.instead');
    const compiling = kernelsBeingCompiled(status);
    if (compiling) return t('status.preparing', compiling);
    return t(`status.${status.phase}`);
  }
}

const fallbackReasonOf = (status: EngineStatus) =>
  status.phase === 'ready' || status.phase === 'busy' ? status.fallbackReason : undefined;

const kernelsBeingCompiled = (status: EngineStatus) => (status.phase === 'ready' ? status.compilingKernels : undefined);

export function toneOf(status: EngineStatus, restarted: boolean): Tone {
  if (status.phase === 'stopped') return 'bad';
  if (status.phase === 'restarting' || restarted || fallbackReasonOf(status) !== undefined) return 'warn';
  if (status.phase === 'idle') return 'off';
  return status.phase === 'loading' || kernelsBeingCompiled(status) ? 'ink' : 'ok';
}
