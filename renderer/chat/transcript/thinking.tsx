import { memo, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../app/protocol/index.ts';
import { useKeysHint } from '../../commands/command-keys.ts';
import { useFormats } from '../../i18n.ts';
import { useNow } from '../../lib/use-now.ts';
import type { TurnProgress } from '../../stores/chat/reducers.ts';
import { thoughtOf } from '../../stores/chat/speed.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { Icon } from '../../ui/icon.tsx';
import { Markdown } from '../../ui/markdown/markdown.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';

const OFFER_MS = 3000;

/** Whether there is text after the last call. */
const hasText = ({ text, toolUses }: Message): boolean => text.length > (toolUses.at(-1)?.textAt ?? 0);
const TAIL = 600;

/** The row for thinking: duration and tokens; expands to the text. While thinking runs, its last three lines are shown. */
export const Thinking = memo(function Thinking({ message, live }: { message: Message; live: TurnProgress | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const show = useSettings((state) => state.values.showThinking);
  const { answerNow } = actions;
  const [chosen, setChosen] = useState<boolean | null>(null);
  const running = live?.thinking?.until === null && message.state.status === 'running' && !hasText(message);
  const now = useNow(running);
  const answerKeys = useKeysHint('answer-now');
  // After a reload the start is unknown here; the stored samples have it.
  const samples = useChat((state) => (live ? undefined : state.samples.get(message.id)));
  const measured = useMemo(() => thoughtOf(samples), [samples]);
  const passed = live?.thinking
    ? (live.thinking.until ?? live.pause?.at ?? now) - live.thinking.since
    : (message.timings?.thinkingMs ?? measured?.ms ?? null);
  const tokens = live?.thinking?.tokens ?? message.usage?.thinkingTokens ?? measured?.tokens ?? 0;
  const open = chosen ?? (show === 'open' || (show === 'running' && running));
  const paused = message.state.status === 'paused';
  const time = passed === null ? '' : formats.duration(Math.max(passed, running ? 0 : 1));
  const title = running
    ? t('thinking.running', { time })
    : paused
      ? passed === null
        ? t('thinking.pausedPlain')
        : t('thinking.paused', { time })
      : passed === null
        ? t('thinking.done')
        : t('thinking.took', { time });
  return (
    <div>
      <div className="flex items-center">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setChosen(!open)}
          className="-ms-1.5 inline-flex h-row items-center gap-2 rounded-sm ps-1.5 pe-2 font-medium whitespace-nowrap text-pencil hover:bg-hover"
        >
          <Icon name="pen" />
          <span className={running ? 'tabular-nums' : ''}>{title}</span>
          {tokens > 0 && (
            <span className="font-normal text-fg-3 tabular-nums">
              {t('tokens', { count: tokens, tokens: formats.exact(tokens) })}
            </span>
          )}
          {!running && <Icon name={open ? 'down' : 'forward'} size={14} className={open ? '' : 'rtl:-scale-x-100'} />}
        </button>
        {running && passed !== null && passed >= OFFER_MS && (
          <Tooltip text={t('commands.answer-now')} {...answerKeys}>
            <button
              type="button"
              onClick={() => void answerNow()}
              className="h-row rounded-sm px-1.5 font-medium text-ink-text hover:bg-hover"
            >
              {t('thinking.answerNow')}
            </button>
          </Tooltip>
        )}
      </div>
      {open && (
        <div className="mt-1 ms-1.75 border-s-2 border-pencil-line py-0.5 ps-4">
          <div className="prose pencil" dir="auto">
            <Markdown text={message.thinking} growing={running} />
          </div>
        </div>
      )}
      {!open && running && (
        <div
          aria-hidden
          className="fade-top mt-1 ms-1.75 flex max-h-17.5 max-w-136 flex-col justify-end overflow-hidden border-s-2 border-pencil-line py-0.5 ps-4 text-md leading-[1.375rem] text-pencil"
        >
          <p className="wrap-anywhere">
            {message.thinking.slice(-TAIL)}
            <span className="caret pencil" />
          </p>
        </div>
      )}
    </div>
  );
});
