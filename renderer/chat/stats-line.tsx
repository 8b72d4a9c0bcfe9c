import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message, MessageId, StatsSample } from '../../app/protocol/index.ts';
import { isMac } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { shown } from '../shell/keys.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { Pager } from './pager.tsx';
import { Spark, sparkPoints } from './spark.tsx';
import { actions, useChat } from './store.ts';

type StatsLineProps = { message: Message; versions: readonly MessageId[]; last: boolean };

/** Speed while writing, time to the first token, prompt, length, why it ended; then what can be done with the answer. */
export function StatsLine({ message, versions, last }: StatsLineProps) {
  const { t } = useTranslation();
  const { timings, usage } = message;
  const formats = useFormats();
  const lost = message.state.at === 'failed';
  const short = versions.length > 1;
  const long = short ? 'hidden' : '@max-[47.5rem]:hidden';
  return (
    <footer className="mt-1.5 flex min-h-row flex-wrap items-center gap-x-3.5 text-xs whitespace-nowrap text-fg-3 tabular-nums">
      {timings && <Speed message={message} lost={lost} />}
      {timings && (
        <span>
          <b className="font-medium text-fg-2">{formats.duration(timings.firstTokenMs)}</b>{' '}
          <span className={short ? '' : '@min-[47.5rem]:hidden'}>{t('stats.firstToken')}</span>
          <span className={long}>{t('stats.toFirstToken')}</span>
        </span>
      )}
      {usage && (
        <span className={long}>
          <b className="font-medium text-fg-2">{formats.exact(usage.promptTokens)}</b>{' '}
          {t('stats.prompt', { cached: formats.exact(usage.cachedTokens) })}
        </span>
      )}
      {usage && (
        <span className={long}>
          <b className="font-medium text-fg-2">{formats.exact(usage.answerTokens + usage.thinkingTokens)}</b>{' '}
          {t('stats.out')}
        </span>
      )}
      <Reason message={message} last={last} />
      <Actions message={message} versions={versions} last={last} />
    </footer>
  );
}

const none: StatsSample[] = [];

function Speed({ message, lost }: { message: Message; lost: boolean }) {
  const formats = useFormats();
  const samples = useChat((state) => state.samples.get(message.id)) ?? none;
  useEffect(() => {
    actions.readSamples(message.id).catch(() => {});
  }, [message.id]);
  return (
    <span className="inline-flex items-center gap-2 pe-2 text-fg-2">
      <Spark points={sparkPoints(samples)} tone={lost ? 'bad' : 'ink'} />
      <b className="font-medium">{formats.speed(message.timings?.tokensPerSecond ?? null)}</b>
    </span>
  );
}

function Reason({ message, last }: { message: Message; last: boolean }) {
  const { t } = useTranslation();
  const { resume } = actions;
  const { state } = message;
  if (state.at === 'failed') {
    return (
      <span className="text-bad-text">
        {state.failure.code === 'engine-lost' ? t('reason.engine') : t('reason.error')}
      </span>
    );
  }
  if (state.at !== 'done' || state.reason === null) return null;
  const cut =
    state.reason === 'length' || state.reason === 'cancelled' || state.reason === 'loop' || state.reason === 'context';
  return (
    <span className="inline-flex items-center gap-1">
      {t(`reason.${state.reason}`)}
      {cut && last && (
        <Button kind="link" className="text-xs" onClick={() => void resume(message.id)}>
          {t('failure.continue')}
        </Button>
      )}
    </span>
  );
}

function Actions({ message, versions, last }: StatsLineProps) {
  const { t } = useTranslation();
  const { retry, setEditing } = actions;
  return (
    <span
      className={`ms-auto -me-1.5 flex items-center ${last ? '' : 'opacity-0 transition-opacity duration-(--duration-fast) group-focus-within/turn:opacity-100 group-hover/turn:opacity-100 has-data-version:opacity-100 has-data-[state=open]:opacity-100'}`}
    >
      <Pager message={message} versions={versions} />
      <CopyButton text={message.text} label={t('copy')} />
      <IconButton
        small
        icon="retry"
        label={t('message.retry')}
        {...(last && { keys: shown('Mod+R', isMac()) })}
        onClick={() => void retry(message.id)}
      />
      <Menu label={t('more')} align="end" trigger={<IconButton small icon="more" label={t('more')} />}>
        <MenuItem onSelect={() => setEditing(message.id)}>{t('message.editAnswer')}</MenuItem>
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
