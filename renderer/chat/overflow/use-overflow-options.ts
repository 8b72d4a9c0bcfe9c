import { useEffect, useState } from 'react';
import type { Machine } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { useChat } from '../../stores/chat/store.ts';
import type { Overlay } from '../../stores/chat/view-state.ts';
import { useEngine } from '../../stores/engine.ts';
import { useSettings } from '../../stores/settings.ts';
import { largerOf, otherModelFor, type Plan, type Possible } from './overflow-options.ts';
import { isSearchable } from './search-instead.ts';

/** The options that would make room, and their cost; null while unknown. */
export function useOverflowOptions(full: Extract<Overlay, { kind: 'overflow' }>): Possible {
  const model = useChatModel();
  const [machine, setMachine] = useState<Machine | null>(null);
  const [plan, setPlan] = useState<Plan | null>(null);
  const { resumes, chatId } = full;
  useEffect(() => {
    let gone = false;
    const { drafts, attachments, branchFrom } = useChat.getState();
    core.call('models.machine').then(
      (found) => !gone && setMachine(found),
      () => {},
    );
    const parentId = resumes ?? branchFrom;
    core
      .call('context.overflowOptions', {
        chatId,
        draft: resumes ? '' : (drafts[chatId] ?? ''),
        attachments: resumes ? [] : (attachments[chatId] ?? []).map(({ id }) => id),
        ...(parentId !== null && { parentId }),
      })
      .then(
        (found) => !gone && setPlan(found),
        () => {},
      );
    return () => {
      gone = true;
    };
  }, [resumes, chatId]);
  const models = useEngine((state) => state.models);
  const kvType = useSettings((state) => state.values.kvType);
  const searchable = useChat(({ drafts, attachments }) =>
    isSearchable(drafts[chatId] ?? '', attachments[chatId] ?? []),
  );
  return {
    larger: largerOf(full, model?.description ?? null, machine, kvType),
    plan,
    other: otherModelFor(full, model, models, machine, kvType),
    searchable: searchable && resumes === null,
    resumes: resumes !== null,
  };
}
