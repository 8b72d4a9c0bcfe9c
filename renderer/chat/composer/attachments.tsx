import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Attachment,
  type AttachmentId,
  type ChatId,
  type ErrorCode,
  failureOf,
} from '../../../app/protocol/index.ts';
import { choose, core, placeFile } from '../../bridge.ts';
import { useKeysHint } from '../../commands/command-keys.ts';
import { useFormats } from '../../i18n.ts';
import { shortly } from '../../sentences.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import type { DraftKey } from '../../stores/chat/view-state.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { answerFrom } from '../overflow/search-instead.ts';

/** `share`: progress of a file that becomes a document; null while it is read as text. */
type Adding = { id: number; name: string; share: number | null };
type Refused = { name: string; reason: string };

let lastId = 0;

/** Adds files to the draft of a chat as text, one by one; a refused file shows its error and the others continue. They stay
 *  with the chat they were given to, whichever is on screen by then. Files of the same name are distinct. */
export function useAttach(key: DraftKey) {
  const { ensureChat, setAttachments } = actions;
  const [adding, setAdding] = useState<Partial<Record<DraftKey, Adding[]>>>({});
  const [problem, setProblem] = useState<Partial<Record<DraftKey, Refused | null>>>({});

  const hand = (id: number, from: DraftKey, to: DraftKey) =>
    setAdding((all) => {
      const one = all[from]?.find((other) => other.id === id);
      if (!one || from === to) return all;
      return { ...all, [from]: all[from]?.filter((other) => other !== one), [to]: [...(all[to] ?? []), one] };
    });

  /** Returns the chat it was added to. */
  async function addOne(to: DraftKey, name: string, place: () => Promise<{ path: string; name: string }>) {
    const id = ++lastId;
    let at = to;
    setAdding((all) => ({ ...all, [to]: [...(all[to] ?? []), { id, name, share: null }] }));
    try {
      const chatId = to === 'new' ? await ensureChat() : to;
      hand(id, to, chatId);
      at = chatId;
      const placed = await place();
      const attachment = await core.call('attachments.add', { chatId, ...placed }).catch((error) => {
        const { code, details } = failureOf(error);
        if (!isForSearch(code) || details?.picture === true) throw error;
        return null;
      });
      if (attachment) setAttachments([...(useChat.getState().attachments[chatId] ?? []), attachment], chatId);
      else await searched(chatId, id, placed);
    } catch (error) {
      const failure = failureOf(error);
      const refused = { name, reason: shortly(failure) };
      setProblem((all) => ({ ...all, [at]: refused }));
    } finally {
      setAdding((all) => ({ ...all, [at]: all[at]?.filter((other) => other.id !== id) }));
    }
    return at;
  }

  /** A book, or anything but plain text: the chat answers from passages found in it. */
  async function searched(chatId: ChatId, id: number, placed: { path: string; name: string }) {
    const onProgress = (share: number) =>
      setAdding((all) => ({ ...all, [chatId]: all[chatId]?.map((one) => (one.id === id ? { ...one, share } : one)) }));
    await answerFrom(chatId, placed.name, [placed], { onProgress });
  }

  return {
    adding: adding[key] ?? none,
    problem: problem[key] ?? null,
    async add(files: (File | string)[]) {
      setProblem((all) => ({ ...all, [key]: null }));
      let to = key;
      for (const file of files) {
        if (typeof file !== 'string') to = await addOne(to, file.name, () => placeFile(file));
        else {
          const name = file.split(/[\\/]/).at(-1) ?? file;
          to = await addOne(to, name, async () => ({ path: file, name }));
        }
      }
    },
    /** Moves it to another position in the draft. */
    move(id: AttachmentId, to: number) {
      const present = useChat.getState().attachments[key] ?? [];
      const others = present.filter((other) => other.id !== id);
      setAttachments([...others.slice(0, to), ...present.filter((other) => other.id === id), ...others.slice(to)], key);
    },
    async remove({ id }: Attachment) {
      const present = useChat.getState().attachments[key] ?? [];
      setAttachments(
        present.filter((other) => other.id !== id),
        key,
      );
      await core.call('attachments.remove', { attachmentId: id });
    },
  };
}

const none: readonly Adding[] = [];

/** Too large to be read as text, or not text at all: a PDF, a spreadsheet. */
const isForSearch = (code: ErrorCode): boolean => code === 'too-large' || code === 'unreadable';

/** The system's dialog where there is one, the browser's elsewhere. */
export function AttachButton({ onFiles }: { onFiles: (files: (File | string)[]) => void }) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const keys = useKeysHint('attach');
  return (
    <>
      <IconButton
        id="attach"
        icon="attach"
        label={t('commands.attach')}
        {...keys}
        onClick={async () => {
          const asked = choose('attachments');
          if (asked) onFiles(await asked);
          else input.current?.click();
        }}
      />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('commands.attach')}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </>
  );
}

type ChipProps = {
  attachment: { name: string; share?: number | null } | Attachment;
  sent?: boolean;
  refused?: string;
  onRemove?: () => void;
};

export function AttachmentChip({ attachment, sent = false, refused, onRemove }: ChipProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const about = refused ?? ('bytes' in attachment ? size(attachment) : reading(attachment.share ?? null));
  return (
    <span
      className={`inline-flex h-11 max-w-65 items-center gap-2 rounded-lg ps-1.5 pe-3 ${sent ? 'bg-hover' : 'bg-raised hairline'}`}
    >
      <span
        className={`grid size-8 flex-none place-items-center rounded-sm bg-hover ${refused ? 'text-bad-text' : 'text-fg-3'}`}
      >
        <Icon name={refused ? 'warning' : 'file'} />
      </span>
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-medium">{attachment.name}</span>
        <span className={`truncate text-xs tabular-nums ${refused ? 'text-bad-text' : 'text-fg-3'}`}>{about}</span>
      </span>
      {onRemove && (
        <IconButton
          small
          icon="close"
          label={t('attachment.remove', { name: attachment.name })}
          className="-me-1.5"
          onClick={onRemove}
        />
      )}
    </span>
  );

  function reading(share: number | null): string {
    return share === null ? t('attachment.reading') : t('attachment.indexing', { share: formats.percent(share) });
  }

  function size(known: Attachment): string {
    const bytes = formats.fileSize(known.bytes);
    return known.tokens === null
      ? bytes
      : `${bytes}, ${t('tokens', { count: known.tokens, tokens: formats.exact(known.tokens) })}`;
  }
}
