import { useEffect, useState } from 'react';
import type { Attachment, ChatId, Response } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useEngine } from '../shell/engine.ts';
import { useChat } from './store.ts';

export type Measured = Response<'context.measure'>;

const WAIT_MS = 120;

/** Tokens of the next prompt, asked again when the draft rests for a moment. An empty chat needs no counting. */
export function useMeasure(chatId: ChatId | null, draft: string, attachments: readonly Attachment[]): Measured | null {
  const [measured, setMeasured] = useState<Measured | null>(null);
  const status = useEngine((state) => state.status);
  const leaf = useChat((state) => state.open?.chat.leafId ?? null);
  const branchFrom = useChat((state) => state.branchFrom);
  const settled = useChat((state) => (chatId ? !state.busy.has(chatId) : true));
  const ready = status.at === 'ready' || status.at === 'busy';
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
      if (!gone && found) setMeasured(found);
    }, WAIT_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [chatId, draft, ids, leaf, branchFrom, settled, ready]);
  if (chatId === null) return ready ? { used: 0, draft: 0, limit: status.contextLength } : null;
  return measured;
}
