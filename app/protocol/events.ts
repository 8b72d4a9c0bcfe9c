import { z } from 'zod';
import { Chat, Message } from './chat.ts';
import { EngineStatus, ModelEntry } from './engine.ts';
import { ChatId, MessageId, TurnId } from './ids.ts';
import { Settings } from './settings.ts';
import { TurnEvent } from './turn.ts';

/** Everything the core says unasked, to every client. A client that reconnects asks again for what it shows. */
export const events = {
  turn: z.object({ chatId: ChatId, messageId: MessageId, turnId: TurnId, event: TurnEvent }),
  'chat.changed': Chat,
  'chat.deleted': z.object({ chatId: ChatId }),
  'message.changed': Message,
  'engine.status': EngineStatus,
  'models.changed': z.array(ModelEntry),
  'settings.changed': Settings,
  /** Something the user should know that belongs to no single page, for example that the disk is full. */
  notice: z.object({ code: z.string(), details: z.record(z.string(), z.string()) }),
} as const satisfies Record<string, z.ZodType>;

export type Events = typeof events;
export type EventName = keyof Events;
export type EventPayload<Name extends EventName> = z.output<Events[Name]>;
