import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message, ToolChoice, ToolUse } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { argumentsLine, argumentsText } from '../../lib/tool-arguments.ts';
import { isRunning } from '../../stores/chat/reducers.ts';
import { actions } from '../../stores/chat/store.ts';
import { useToolNames } from '../../stores/tools.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { isPicture } from '../pictures/picture.ts';
import { Thumbnail } from '../pictures/thumbnail.tsx';

const PENDING: ReadonlySet<ToolUse['state']['status']> = new Set(['waiting', 'asking', 'running']);

/** One call: the tool, its arguments and outcome; expands to the exact arguments and result. */
export function ToolBlock({ message, use }: { message: Message; use: ToolUse }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const nameOf = useToolNames();
  const [open, setOpen] = useState(false);
  const { state } = use;
  const asking = state.status === 'asking' && message.state.status === 'running';
  const shown = open || asking;
  const bad = state.status === 'failed' || state.status === 'refused';
  const time = 'ms' in state ? formats.duration(Math.max(1, state.ms)) : '';
  const said =
    state.status === 'failed' ? t(`tools.failed.${state.problem}`) : t(`tools.state.${state.status}`, { time });
  return (
    <div className={`rounded-md border bg-card ${asking ? 'border-ink-line' : 'border-line'}`}>
      <button
        type="button"
        aria-expanded={shown}
        onClick={() => setOpen(!open)}
        className="flex min-h-row w-full items-center gap-2 rounded-md px-2.5 ring-inset-focus hover:bg-hover"
      >
        <Icon name="tool" className={bad ? 'text-bad-text' : 'text-fg-3'} />
        <span className="flex-none font-medium">{nameOf(use.name)}</span>
        <bdi className="min-w-0 flex-1 truncate text-start font-mono text-xs text-fg-2">
          {argumentsLine(use.arguments)}
        </bdi>
        <span className={`flex-none text-xs tabular-nums ${bad ? 'text-bad-text' : 'text-fg-3'}`}>{said}</span>
        <Icon name={shown ? 'down' : 'forward'} size={14} className={`text-fg-3 ${shown ? '' : 'rtl:-scale-x-100'}`} />
      </button>
      {shown && (
        <div className="border-t border-line px-2.5 pt-2 pb-2.5">
          <Part label={t('tools.arguments')} text={argumentsText(use.arguments)} />
          {use.result !== null && <Part label={t('tools.result')} text={use.result} />}
          {use.pictures.some(isPicture) && (
            <div className="mt-2 flex flex-wrap gap-2">
              {use.pictures.filter(isPicture).map((picture) => (
                <Thumbnail key={picture.id} picture={picture} />
              ))}
            </div>
          )}
          {asking && <Consent message={message} use={use} />}
          {!isRunning(message) && !PENDING.has(state.status) && (
            <Button icon="retry" className="mt-2" onClick={() => void actions.runToolAgain(message.id, use.id)}>
              {t('tools.runAgain')}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

/** A call that needs permission, with what it would do above. */
function Consent({ message, use }: { message: Message; use: ToolUse }) {
  const { t } = useTranslation();
  const { state } = message;
  if (state.status !== 'running' || use.state.status !== 'asking') return null;
  const choices: ToolChoice[] = use.state.destroys ? ['once', 'chat', 'deny'] : ['once', 'chat', 'always', 'deny'];
  const { turnId } = state;
  const { destroys, host } = use.state;
  return (
    <div role="alert" className="mt-2.5">
      <p className="text-fg-2">
        {host !== null ? t('tools.asksSite', { host }) : t(destroys ? 'tools.asksDestroying' : 'tools.asks')}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        {choices.map((choice) => (
          <Button
            key={choice}
            kind={choice === 'once' ? 'primary' : 'default'}
            onClick={() => void core.call('turns.decideTool', { turnId, useId: use.id, choice })}
          >
            {t(`tools.choice.${choice}`)}
          </Button>
        ))}
      </div>
    </div>
  );
}

function Part({ label, text }: { label: string; text: string }) {
  const { t } = useTranslation();
  return (
    <section className="mt-1.5 first:mt-0" aria-label={label}>
      <div className="flex items-center text-xs text-fg-3">
        <span className="flex-1">{label}</span>
        <CopyButton text={text} label={t('copy')} />
      </div>
      <pre
        dir="auto"
        className="max-h-64 overflow-auto rounded-sm bg-sunken px-2 py-1.5 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
      >
        {text}
      </pre>
    </section>
  );
}

/** Shown while a call is being generated, which is not part of the answer's text. */
export function CallBeingWritten({ characters }: { characters: number }) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <p className="my-2 flex min-h-row items-center gap-2 rounded-md border border-line bg-card px-2.5 text-fg-2">
      <Icon name="tool" className="text-fg-3" />
      <span className="flex-1">{t('tools.writing')}</span>
      <span className="text-xs text-fg-3 tabular-nums">
        {t('tools.characters', { count: characters, characters: formats.exact(characters) })}
      </span>
    </p>
  );
}
