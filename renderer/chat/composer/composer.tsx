import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { MAX_QUEUED } from '../../../app/protocol/index.ts';
import { editLast } from '../../commands/commands.ts';
import { onAttached } from '../../lib/attach-files.ts';
import { COMPOSER } from '../../lib/focus.ts';
import { wayOf, whatOf } from '../../sentences.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { runningTurn } from '../../stores/chat/visible-branch.ts';
import { useSettings } from '../../stores/settings.ts';
import { Icon } from '../../ui/icon.tsx';
import { isComposing } from '../../ui/ime.ts';
import { Notice } from '../../ui/notice.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';
import { RecoveryMenu } from '../overflow/recovery-menu.tsx';
import { isPicture } from '../pictures/picture.ts';
import { UnseenNotice } from '../pictures/unseen-notice.tsx';
import { AttachmentList } from './attachment-list.tsx';
import { AttachButton, AttachmentChip, useAttach } from './attachments.tsx';
import { BranchStrip } from './branch-strip.tsx';
import { ContextMeter } from './context-meter.tsx';
import { DocumentsMenu } from './documents-menu.tsx';
import { ModelPicker } from './model-picker.tsx';
import { Queue, useQueue } from './queue.tsx';
import { hasMod, sends } from './send-keys.ts';
import { ThinkingMenu } from './thinking-menu.tsx';
import { ToolsMenu } from './tools-menu.tsx';
import { useContextUsage } from './use-context-usage.ts';

const noAttachments: never[] = [];

/** In characters. Longer text is pasted as an attachment: a text field that holds a book would lag. */
const LONGEST_PASTE = 50_000;

/** The field for messages. Keeps the draft of each chat across switches, reloads and failures. */
export function Composer({ tall = false }: { tall?: boolean }) {
  const { t } = useTranslation();
  const key = useChat((state) => state.chosen ?? 'new');
  const draft = useChat((state) => state.drafts[key] ?? '');
  const attachments = useChat((state) => state.attachments[key]) ?? noAttachments;
  const paused = usePaused();
  const running = useChat((state) => runningTurn(state) !== null) && !paused;
  const sendWith = useSettings((state) => state.values.sendWith);
  const { setDraft, send, setOverlay } = actions;
  const measured = useContextUsage(key === 'new' ? null : key, draft, attachments);
  const { adding, problem, add, move, remove } = useAttach(key);
  const field = useRef<HTMLTextAreaElement>(null);
  const placeholder = usePlaceholder(key === 'new', paused);
  const filled = draft.trim() !== '' || attachments.length > 0;
  const ready = filled && adding.length === 0;
  const waiting = useQueue();
  const full = running && waiting.length >= MAX_QUEUED;
  const [early, setEarly] = useState<{ now: boolean } | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another chat, another message
  useEffect(() => {
    if (document.activeElement === document.body) field.current?.focus();
  }, [key]);

  const taking = useRef(add);
  taking.current = add;
  useEffect(() => (field.current ? onAttached(field.current, (files) => void taking.current(files)) : undefined), []);

  const submit = (now: boolean) => {
    if (filled && !ready) setEarly({ now });
    if (!ready || (full && !now)) return;
    if (measured && key !== 'new' && measured.used + measured.draft > measured.limit)
      setOverlay({ kind: 'overflow', chatId: key, ...measured, resumes: null });
    else void send(now);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: sent too early: goes as soon as the last file is read
  useEffect(() => {
    if (!early || !ready) return;
    setEarly(null);
    submit(early.now);
  }, [early, ready]);

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event)) return;
    const mod = hasMod(event);
    if (sends(event, sendWith)) {
      event.preventDefault();
      submit(mod && sendWith === 'enter');
    }
    if (event.key === 'ArrowUp' && draft === '' && !event.altKey && !mod) {
      event.preventDefault();
      editLast();
    }
  };

  const onPaste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text/plain');
    const files = [...event.clipboardData.files];
    if (files.length === 0 && text.length > LONGEST_PASTE) files.push(new File([text], t('attachment.pasted')));
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };

  return (
    <div>
      <Refusal />
      <Queue waiting={waiting} full={full && filled} />
      <BranchStrip />
      <div className="relative rounded-xl bg-card composer-rest focus-within:has-[textarea:focus]:composer-focus">
        {(attachments.length > 0 || adding.length > 0 || problem) && (
          <AttachmentList attachments={attachments} onMove={move} onRemove={(attachment) => void remove(attachment)}>
            {adding.map(({ id, name, share }) => (
              <li key={id}>
                <AttachmentChip attachment={{ name, share }} />
              </li>
            ))}
            {problem && (
              <li>
                <AttachmentChip attachment={{ name: problem.name }} refused={problem.reason} />
              </li>
            )}
          </AttachmentList>
        )}
        {attachments.some(isPicture) && <UnseenNotice />}
        <textarea
          ref={field}
          id={COMPOSER}
          dir="auto"
          aria-label={t('composer.label')}
          placeholder={placeholder}
          value={draft}
          rows={1}
          spellCheck
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className={`block max-h-[40vh] w-full resize-none bg-transparent px-4 pt-3 pb-2 text-base leading-[1.4375rem] field-sizing-content focus-visible:outline-none ${tall ? 'min-h-19' : 'min-h-11.5'}`}
        />
        <div className="flex items-center gap-0.5 px-2 pb-2">
          <AttachButton onFiles={add} />
          <ModelPicker />
          <ThinkingMenu />
          <DocumentsMenu />
          <ToolsMenu />
          <span className="flex-1" />
          <ContextMeter measured={measured} />
          <SendButton running={running} ready={ready && !full} onSend={() => submit(false)} />
        </div>
      </div>
    </div>
  );
}

/** Whether an answer of this chat waits for the user: a message sent then says how to continue. */
const usePaused = () =>
  useChat(({ open }) => open !== null && [...open.messages.values()].some(({ state }) => state.status === 'paused'));

function usePlaceholder(fresh: boolean, paused: boolean): string {
  const { t } = useTranslation();
  const model = useChatModel();
  if (paused) return t('composer.orSay');
  if (!fresh) return t('composer.followUp');
  return model ? t('composer.message', { model: model.name }) : t('composer.messagePlain');
}

type SendButtonProps = { running: boolean; ready: boolean; onSend: () => void };

/** While an answer runs, stop replaces send; if something is typed too, sending queues it. */
function SendButton({ running, ready, onSend }: SendButtonProps) {
  const { t } = useTranslation();
  const { stop } = actions;
  const round =
    'ms-2 grid size-7.5 flex-none place-items-center rounded-full transition-colors duration-(--duration-fast)';
  const send = running ? t('composer.queue') : t('composer.send');
  return (
    <>
      {(!running || ready) && (
        <Tooltip text={send} keys="↩">
          <button
            type="button"
            aria-label={send}
            aria-disabled={!ready}
            onClick={onSend}
            className={`${round} ${ready ? 'bg-ink text-on-ink hover:bg-ink-hover active:bg-ink-press' : 'bg-select text-fg-3'}`}
          >
            <Icon name={running ? 'clock' : 'send'} />
          </button>
        </Tooltip>
      )}
      {running && (
        <Tooltip text={t('composer.stop')} keys="Esc">
          <button
            type="button"
            aria-label={t('composer.stop')}
            onClick={() => void stop()}
            className={`${round} bg-fg text-canvas`}
          >
            <span className="block size-2.5 rounded-[2px] bg-canvas" />
          </button>
        </Tooltip>
      )}
    </>
  );
}

/** Why the last message was refused. Its text is back in the field. */
function Refusal() {
  const { t } = useTranslation();
  const refused = useChat((state) => state.refused[state.chosen ?? 'new']);
  const { clearRefusal, setOverlay } = actions;
  if (!refused) return null;
  return (
    <div className="mb-2">
      <Notice
        alert
        tone="bad"
        title={whatOf(refused)}
        actions={
          <>
            <RecoveryMenu failure={refused} resumes={null} />
            <button
              type="button"
              className="h-control rounded-sm px-2 font-medium text-fg-2 hover:bg-hover"
              onClick={clearRefusal}
            >
              {t('close')}
            </button>
            <button
              type="button"
              className="ms-auto h-control rounded-sm px-2 font-medium text-fg-2 hover:bg-hover"
              onClick={() => setOverlay({ kind: 'report', failure: refused })}
            >
              {t('failure.report')}
            </button>
          </>
        }
      >
        {wayOf(refused)}
      </Notice>
    </div>
  );
}
