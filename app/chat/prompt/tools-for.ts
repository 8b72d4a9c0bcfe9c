import type { CountedBy } from '../../engine/ipc-protocol.ts';
import type { Chat, Message } from '../../protocol/index.ts';
import { callFormatOf } from '../../text/tool-calls/call-formats.ts';
import type { ChatDeps, ChatTools } from '../deps.ts';
import { withheldFrom } from './passages-stay.ts';

/** The tools a chat may call with this model, and how calls are written; null if the model's template does not support tools, or if
 *  nothing can be called and nothing has been. */
export async function toolsFor(
  core: Pick<ChatDeps, 'engine' | 'tools' | 'settings'>,
  chat: Pick<Chat, 'tools' | 'passagesTo'>,
  path: readonly Message[],
  { path: model, template, remote }: CountedBy,
): Promise<ChatTools | null> {
  const schemas = core.tools.schemas(chat.tools ?? core.settings().tools);
  if (schemas.length === 0 && path.every(({ toolUses }) => toolUses.length === 0)) return null;
  const withheld = withheldFrom(chat, remote);
  if (remote) return { format: null, schemas, withheld };
  const format = callFormatOf(await core.engine.ask('template', { path: model, template }));
  return format && { format, schemas, withheld };
}
