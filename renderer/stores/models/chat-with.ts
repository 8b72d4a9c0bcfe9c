import type { ModelId } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useChat } from '../chat/store.ts';
import { useShell } from '../shell.ts';

/** Begins a new chat with this model. */
export function chatWith(modelId: ModelId): void {
  useShell.getState().go({ kind: 'chat' });
  useChat.setState((state) => ({ chosen: null, fresh: { ...state.fresh, modelId } }));
  void core.call('models.load', { modelId }).catch(() => {}); // the chat says why
}
