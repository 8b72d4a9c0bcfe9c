import { memo, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message, MessageId } from '../../../app/protocol/index.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { CodeBlock } from '../../ui/markdown/code.tsx';
import { fencesOf } from '../../ui/markdown/fences.ts';
import { pieces } from '../../ui/markdown/limits.ts';
import { usePlain } from '../../ui/markdown/plain-context.ts';
import { AttachmentChip } from '../composer/attachments.tsx';
import { isPicture } from '../pictures/picture.ts';
import { Thumbnail } from '../pictures/thumbnail.tsx';
import { Pager } from '../stats/pager.tsx';
import { Editor } from './editor.tsx';

/** The question as typed: no Markdown but code fences, with every line break. */
export const UserMessage = memo(function UserMessage({
  message,
  versions,
}: {
  message: Message;
  versions: readonly MessageId[];
}) {
  const { t } = useTranslation();
  const editing = useChat((state) => state.editing === message.id);
  const { setEditing } = actions;
  const { edit } = actions;
  if (editing) {
    return (
      <Editor
        text={message.text}
        label={t('message.edit')}
        save={t('message.saveAndSend')}
        onSave={(text) => edit(message.id, text)}
      />
    );
  }
  return (
    <div className="relative flex flex-col items-end gap-1.5">
      {message.attachments.map((attachment) =>
        isPicture(attachment) ? (
          <Thumbnail key={attachment.id} picture={attachment} />
        ) : (
          <AttachmentChip key={attachment.id} attachment={attachment} sent />
        ),
      )}
      {message.text !== '' && (
        <div
          dir="auto"
          data-text
          className="max-w-136 rounded-xl bg-hover px-3.5 py-2.25 text-base leading-[1.4375rem] whitespace-pre-wrap wrap-anywhere"
        >
          <Typed text={message.text} />
        </div>
      )}
      <div className="absolute end-0 top-full -mt-0.75 flex h-6 items-center opacity-0 transition-opacity duration-(--duration-fast) group-focus-within/turn:opacity-100 group-hover/turn:opacity-100 has-data-version:opacity-100">
        <Pager message={message} versions={versions} />
        <CopyButton text={message.text} label={t('copy')} />
        <IconButton small icon="edit" label={t('message.edit')} onClick={() => setEditing(message.id)} />
      </div>
    </div>
  );
});

function Typed({ text }: { text: string }) {
  const plain = usePlain();
  const parts = useMemo(() => (plain ? [{ kind: 'text' as const, text }] : fencesOf(text)), [plain, text]);
  return parts.map((part, index) =>
    part.kind === 'code' ? (
      <div key={index} className="my-1.5 first:mt-0 last:mb-0">
        <CodeBlock language={part.language} text={part.text} closed />
      </div>
    ) : (
      <Plain key={index} text={part.text} />
    ),
  );
}

const Plain = ({ text }: { text: string }) =>
  text.length < 5000 ? text : pieces(text).map((piece, index) => <span key={index}>{piece}</span>);
