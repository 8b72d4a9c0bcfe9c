import {
  type Chat,
  type ChatId,
  type Emit,
  type EngineStatus,
  type Message,
  type MessageId,
  type ModelEntry,
  type Settings,
  type StatsSample,
} from '../../app/protocol/index.ts';
export type Script = {
  text: string;
  thinking?: string;
  chunk?: number;
  everyMs?: number;
};
export type World = {
  chats: Map<ChatId, Chat>;
  messages: Map<MessageId, Message>;
  samples: Map<MessageId, StatsSample[]>;
  models: ModelEntry[];
  status: EngineStatus;
  settings: Settings;
  /** What the next answers say. */
  script: (prompt: string) => Script;
  measure: {
    used: number;
    draft: number;
    limit: number;
  } | null;
};
export declare const STARTER: ModelEntry['id'];
export declare const starter: ModelEntry;
export declare function createWorld(change?: Partial<World>): World;
export declare const nextId: <Id extends string>(kind: string) => Id;
export declare function newChat(change?: Partial<Chat>): Chat;
export declare function newMessage(chatId: ChatId, role: Message['role'], change?: Partial<Message>): Message;
export declare function createFakeCore(world: World): {
  switchboard: {
    emit: Emit;
    clients: () => number;
    add(
      pipe: import('../../app/protocol/pipe.ts').Pipe<
        import('../../app/protocol/wire.ts').CoreFrame,
        import('../../app/protocol/wire.ts').CallFrame
      >,
    ): void;
    close(): void;
  };
  emit: Emit;
  world: World;
};
