import { z } from 'zod';
import { Chat, Message } from './chat/chat.ts';
import { TurnEvent } from './chat/turn.ts';
import { documentEvents } from './documents.ts';
import { ChatId, MessageId, ModelId, TurnId } from './ids.ts';
import { mcpEvents } from './mcp.ts';
import { BenchmarkState, Run } from './metrics.ts';
import { Download } from './models/downloads.ts';
import { EngineStatus, ModelEntry } from './models/engine.ts';
import { Library } from './models/library.ts';
import { Machine } from './models/memory-estimate.ts';
import { qualityEvents } from './models/quality.ts';
import { remoteEngineEvents } from './models/remote-engines.ts';
import { shrinkEvents } from './models/shrinking.ts';
import { trialEvents } from './models/trial.ts';
import { serverEvents } from './server.ts';
import { Settings } from './settings.ts';

/** Something the user should know that does not belong to a single page, for example that the disk is full. `code` names its
 *  sentence (strings `notices.<code>`); `details` fill it. */
export const Notice = z.object({
  code: z.enum([
    'database-restored', // damaged, backupAt, chats, messages
    'database-started-anew', // no sound backup; damaged, chats, messages
    'database-was-lost', // it was missing or empty, and the newest good backup was restored; backupAt
    'database-lost-anew', // the same, and no backup was good
    'read-only', // folder
    'disk-full', // nothing is lost: text is held in memory
    'not-saved', // reason: another database error; nothing is lost here either
    'saved-again', // recovered from one of these two
    'backup-failed', // reason
    'request-blocked', // address that the page tried to reach
  ]),
  details: z.record(z.string(), z.string()),
});
export type Notice = z.infer<typeof Notice>;

/** Events of the core to all clients. A client that reconnects queries its state again. */
export const events = {
  turn: z.object({ chatId: ChatId, messageId: MessageId, turnId: TurnId, event: TurnEvent }),
  'chat.changed': Chat,
  'chat.deleted': z.object({ chatId: ChatId }),
  'message.changed': Message,
  /** The text so far of a summary of everything up to a message. */
  'context.summary': z.object({ messageId: MessageId, text: z.string() }),
  'message.deleted': z.object({ chatId: ChatId, messageId: MessageId }),
  'engine.status': EngineStatus,
  'models.changed': z.array(ModelEntry),
  /** One entry changed: it was used, or its settings changed. */
  'model.changed': ModelEntry,
  'library.changed': Library,
  'downloads.changed': z.array(Download),
  /** All files are downloaded and verified; the model is in the library. */
  'download.finished': ModelEntry,
  'model.checking': z.object({ modelId: ModelId, checked: z.number(), total: z.number() }),
  /** Its bandwidth was measured. */
  'machine.changed': Machine,
  /** The network log has changed; clients that show it query it again. */
  'networkLog.changed': z.null(),
  'settings.changed': Settings,
  'run.added': Run,
  benchmark: BenchmarkState,
  ...documentEvents,
  ...serverEvents,
  ...mcpEvents,
  ...remoteEngineEvents,
  ...shrinkEvents,
  ...trialEvents,
  ...qualityEvents,
  notice: Notice,
} as const satisfies Record<string, z.ZodType>;

export type Events = typeof events;
export type EventName = keyof Events;
export type EventPayload<Name extends EventName> = z.output<Events[Name]>;
