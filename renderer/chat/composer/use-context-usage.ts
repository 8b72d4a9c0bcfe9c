import { useEffect, useState } from 'react';
import type { Attachment, ChatId, EngineStatus, ModelEntry, Response } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { useChat } from '../../stores/chat/store.ts';
import { useEngine } from '../../stores/engine.ts';
import { useSettings } from '../../stores/settings.ts';

export type Measured = Response<'context.measure'>;

const WAIT_MS = 120;
/** The context that the engine allocates if none was chosen. */
const USUAL_CONTEXT = 32_768;

/** The context that the chat's own model has or would have; another model may be in memory. */
export function limitOf(model: ModelEntry | null, wanted: number | null, status: EngineStatus): number | null {
  if (!model) return null;
  if ((status.phase === 'ready' || status.phase === 'busy') && status.modelId === model.id) return status.contextLength;
  const longest = model.description?.contextLength;
  return longest ? Math.min(model.settings.contextLength ?? wanted ?? USUAL_CONTEXT, longest) : null;
}

/** A count of another chat or model does not apply here. An empty chat needs no count. */
export function shownMeasure(
  measured: { of: string; found: Measured } | null,
  subject: { chatId: ChatId | null; modelId: string | undefined; limit: number | null },
): Measured | null {
  const { chatId, limit } = subject;
  if (limit === null) return null;
  if (chatId === null) return { used: 0, draft: 0, limit };
  return measured?.of === subjectOf(subject) ? { ...measured.found, limit } : null;
}

export const subjectOf = ({ chatId, modelId }: { chatId: ChatId | null; modelId: string | undefined }): string =>
  `${chatId} ${modelId}`;

/** Tokens of the next prompt, recounted when typing pauses. */
export function useContextUsage(
  chatId: ChatId | null,
  draft: string,
  attachments: readonly Attachment[],
): Measured | null {
  const [measured, setMeasured] = useState<{ of: string; found: Measured } | null>(null);
  const model = useChatModel();
  const wanted = useSettings((state) => state.values.contextLength);
  const status = useEngine((state) => state.status);
  const leaf = useChat((state) => state.open?.chat.leafId ?? null);
  const branchFrom = useChat((state) => state.branchFrom);
  const settled = useChat((state) => (chatId ? !state.busy.has(chatId) : true));
  const ready = status.phase === 'ready' || status.phase === 'busy';
  const limit = limitOf(model, wanted, status);
  const subject = subjectOf({ chatId, modelId: model?.id });
  const ids = attachments.map((attachment) => attachment.id).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: leaf and settled stand for the text of the chat
  useEffect(() => {
    if (chatId === null || !ready) return;
    let gone = false;
    const timer = setTimeout(async () => {
      const found = await core
        .call('context.measure', {
          chatId,
          draft,
          attachments: attachments.map((one) => one.id),
          ...(branchFrom !== null && { parentId: branchFrom }),
        })
        .catch(() => null);
      if (!gone && found) setMeasured({ of: subject, found });
    }, WAIT_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [chatId, draft, ids, leaf, branchFrom, settled, ready, subject]);
  return shownMeasure(measured, { chatId, modelId: model?.id, limit });
}
