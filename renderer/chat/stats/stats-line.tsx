import { useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message, MessageId, StatsSample } from '../../../app/protocol/index.ts';
import { useKeysHint } from '../../commands/command-keys.ts';
import { answerAsMarkdown, quotingIn } from '../../commands/export.ts';
import { useFormats } from '../../i18n.ts';
import { focusComposer } from '../../lib/focus.ts';
import { asksForPassages, isRunning } from '../../stores/chat/reducers.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Menu, MenuItem } from '../../ui/overlays/menu.tsx';
import { Pager } from './pager.tsx';
import { Sparkline, sparkPoints } from './sparkline.tsx';
import { SpeedPanel } from './speed-panel.tsx';

type StatsLineProps = { message: Message; versions: readonly MessageId[]; last: boolean };

/** Speed and finish reason; the speed opens a panel of all figures. An answer that found nothing has none, since no model
 *  wrote it. */
export function StatsLine({ message, versions, last }: StatsLineProps) {
  const [open, setOpen] = useState(false);
  const panel = useId();
  const samples = useSamples(message);
  const running = isRunning(message);
  const refused = message.grounding?.found === false;
  // A card with a question takes precedence.
  if (message.state.status === 'paused' || asksForPassages(message)) return null;
  if (running && samples.length < 2) return null;
  return (
    <>
      <footer className="mt-1.5 flex min-h-row flex-wrap items-center gap-x-3.5 text-xs whitespace-nowrap text-fg-3 tabular-nums">
        {!refused && (running || message.timings) && (
          <Speed message={message} samples={samples} open={open} panel={panel} onToggle={() => setOpen(!open)} />
        )}
        {running ? (
          <Writing />
        ) : refused ? (
          <Actions message={message} versions={versions} last={last} />
        ) : (
          <Finished message={message} versions={versions} last={last} />
        )}
      </footer>
      {open && <SpeedPanel id={panel} message={message} samples={samples} onClose={() => setOpen(false)} />}
    </>
  );
}

function Writing() {
  const { t } = useTranslation();
  return <span className="text-ink-text">{t('speed.writing')}</span>;
}

/** Why it ended, and actions on it. Every other figure is in the panel that the speed opens. */
const Finished = (props: StatsLineProps) => (
  <>
    <Reason message={props.message} last={props.last} />
    <Actions {...props} />
  </>
);

const none: StatsSample[] = [];

/** Stored samples of a finished answer, live ones of a running answer. */
function useSamples(message: Message): readonly StatsSample[] {
  const readSamples = useChat((state) => state.readSamples);
  useEffect(() => {
    readSamples(message.id).catch(() => {});
  }, [readSamples, message.id]);
  return useChat((state) => state.samples.get(message.id)) ?? none;
}

type SpeedProps = {
  message: Message;
  samples: readonly StatsSample[];
  open: boolean;
  panel: string;
  onToggle: () => void;
};

function Speed({ message, samples, open, panel, onToggle }: SpeedProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const speed = message.timings && !isRunning(message) ? message.timings.tokensPerSecond : latestSpeed(samples);
  return (
    <button
      type="button"
      aria-label={`${t('speed.open')}: ${formats.speed(speed)}`}
      aria-expanded={open}
      {...(open && { 'aria-controls': panel })}
      onClick={onToggle}
      className={`-ms-2 inline-flex h-6 items-center gap-2 rounded-sm px-2 text-fg-2 hover:bg-hover ${open ? 'bg-select' : ''}`}
    >
      <Sparkline points={sparkPoints(samples)} tone={message.state.status === 'failed' ? 'bad' : 'ink'} />
      <b className="font-medium">{formats.speed(speed)}</b>
    </button>
  );
}

const latestSpeed = (samples: readonly StatsSample[]): number | null =>
  samples.findLast(({ phase }) => phase !== 'prefill')?.tokensPerSecond ?? null;

function Reason({ message, last }: { message: Message; last: boolean }) {
  const { t } = useTranslation();
  const { resume, makeRoom } = actions;
  const { state } = message;
  if (state.status === 'failed') {
    return (
      <span className="text-bad-text">
        {state.failure.code === 'engine-lost' ? t('reason.engine') : t('reason.error')}
      </span>
    );
  }
  if (state.status !== 'done' || state.reason === null) return null;
  const cut =
    state.reason === 'length' ||
    state.reason === 'cancelled' ||
    state.reason === 'loop' ||
    state.reason === 'tool' ||
    state.reason === 'context';
  return (
    <span className="inline-flex items-center gap-1">
      {t(`reason.${state.reason}`)}
      {cut && last && (
        <Button
          kind="link"
          className="text-xs"
          onClick={() => void (state.reason === 'context' ? makeRoom(message.id) : resume(message.id))}
        >
          {state.reason === 'context' ? t('failure.makeRoom') : t('failure.continue')}
        </Button>
      )}
    </span>
  );
}

function Actions({ message, versions, last }: StatsLineProps) {
  const { t } = useTranslation();
  const { retry, setEditing, setBranchFrom } = actions;
  const retryKeys = useKeysHint('retry');
  const branchKeys = useKeysHint('branch');
  return (
    <span
      className={`ms-auto -me-1.5 flex items-center ${last ? '' : 'opacity-0 transition-opacity duration-(--duration-fast) group-focus-within/turn:opacity-100 group-hover/turn:opacity-100 has-data-version:opacity-100 has-data-[state=open]:opacity-100'}`}
    >
      <Pager message={message} versions={versions} />
      <CopyButton text={answerAsMarkdown(message, quotingIn(t))} label={t('copy')} />
      <IconButton
        small
        icon="retry"
        label={t('message.retry')}
        {...(last && retryKeys)}
        onClick={() => void retry(message.id)}
      />
      <IconButton
        small
        icon="branch"
        label={t('commands.branch')}
        {...branchKeys}
        onClick={() => {
          setBranchFrom(message.id);
          focusComposer();
        }}
      />
      <Menu label={t('more')} align="end" trigger={<IconButton small icon="more" label={t('more')} />}>
        <MenuItem takesFocus onSelect={() => setEditing(message.id)}>
          {t('message.editAnswer')}
        </MenuItem>
        <MenuItem
          disabled={message.thinking === ''}
          onSelect={() => void navigator.clipboard.writeText(message.thinking)}
        >
          {t('message.copyThinking')}
        </MenuItem>
      </Menu>
    </span>
  );
}
