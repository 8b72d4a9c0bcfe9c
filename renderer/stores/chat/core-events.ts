import type { StoreApi } from 'zustand';
import type { ChatId } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { createBatcher } from '../../lib/batcher.ts';
import { useEngine } from '../engine.ts';
import {
  type ChatData,
  type TurnPayload,
  withChat,
  withMessage,
  withoutChat,
  withoutMessage,
  withTurnEvents,
} from './reducers.ts';
import { type ChatView, nothingBegun } from './view-state.ts';

const COMMIT_MS = 50;

/** Applies events of the core to the store: text at most 20 times a second, and everything else after the text that
 *  preceded it. */
export function createCoreEvents({ getState, setState }: Pick<StoreApi<ChatData & ChatView>, 'getState' | 'setState'>) {
  const commits = createBatcher<TurnPayload>((batch) => {
    setState((state) => withTurnEvents(state, batch, performance.now()));
    if (batch.some(({ event }) => event.type === 'stats')) addSamples(batch);
    if (batch.some(({ event }) => event.type === 'delta')) useEngine.setState({ restarted: false });
  }, COMMIT_MS);

  function addSamples(batch: readonly TurnPayload[]): void {
    const { samples, open } = getState();
    const next = new Map(samples);
    for (const { chatId, messageId, event } of batch) {
      if (event.type !== 'stats' || open?.chat.id !== chatId) continue;
      next.set(messageId, [...(next.get(messageId) ?? []), event.sample]);
    }
    setState({ samples: next });
  }

  function change(apply: (data: ChatData) => Partial<ChatData & ChatView>): void {
    commits.flush();
    setState((state) => apply(state));
  }

  return {
    /** Call before anything that must come after pending text. */
    flush: commits.flush,
    listen(): () => void {
      const stops = [
        core.on('turn', (payload) => commits.add(payload)),
        core.on('chat.changed', (chat) => change((data) => withChat(data, chat))),
        core.on('message.changed', (message) => change((data) => withMessage(data, message))),
        core.on('message.deleted', ({ chatId, messageId }) =>
          change((data) => withoutMessage(data, chatId, messageId)),
        ),
        core.on('chat.deleted', ({ chatId }) => change(() => withoutShown(getState(), chatId))),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/** Replaces the chat with an empty one if it was on screen. */
export const withoutShown = (state: ChatData & ChatView, chatId: ChatId) => ({
  ...withoutChat(state, chatId),
  ...(state.chosen === chatId && { ...nothingBegun, chosen: null }),
});
