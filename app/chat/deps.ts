import type { Rag } from '../documents/answer/rag.ts';
import type { Engine } from '../engine/client/engine-client.ts';
import type { LoadTarget } from '../engine/ipc-protocol.ts';
import type { Emit, ModelId, SamplingSettings, Settings } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import type { Saving } from '../store/folder/save-notices.ts';
import type { Measured } from '../store/runs.ts';
import type { Tool as ToolSchema } from '../text/chat-template.ts';
import type { CallFormat } from '../text/tool-calls/call-formats.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { PictureStore } from './pictures.ts';

/** What a chat may call, in the words of its model's template. */
export type ChatTools = { format: CallFormat; schemas: ToolSchema[] };

/** What the chat services work with. */
export type ChatDeps = {
  db: Database;
  engine: Engine;
  emit: Emit;
  saving: Saving;
  settings: () => Settings;
  models: {
    /** How to load it, its name, and the sampling that was set for it. @throws LonghandError `model-missing` */
    target(modelId: ModelId | null): { target: LoadTarget; name: string; sampling: SamplingSettings };
    /** Tokens of context it has when it is loaded, as far as that is known before. */
    contextLengthOf(modelId: ModelId): number;
    /** Whether a chat thinks when neither it nor the settings say so. */
    thinksByDefault(modelId: ModelId): boolean;
    /** 0 when it is not known. */
    parametersOf(modelId: ModelId): number;
    /** Whether it sees pictures; null: the model that a chat without one has. */
    sees(modelId: ModelId | null): boolean;
    used(modelId: ModelId): void;
  };
  /** Finds what answers a question in documents. */
  answering: Rag;
  tools: Toolbox;
  pictures: PictureStore;
  /** A finished answer was measured. */
  measured: (answer: Omit<Measured, 'batch' | 'at' | 'engine' | 'disturbed' | 'curve'>) => void;
  now: () => number;
};
