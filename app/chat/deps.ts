import type { Rag } from '../documents/answer/rag.ts';
import type { GenerationService } from '../engine/client/generation-service.ts';
import type { LoadTarget } from '../engine/ipc-protocol.ts';
import type { Emit, ModelId, SamplingSettings, Settings } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import type { Saving } from '../store/folder/save-notices.ts';
import type { Measured } from '../store/runs.ts';
import type { Tool as ToolSchema } from '../text/chat-template.ts';
import type { CallFormat } from '../text/tool-calls/call-formats.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { PictureStore } from './pictures.ts';

/** What a chat may call, in the words of its model's template; null: an engine elsewhere tells calls from text itself. `withheld`:
 *  tools whose results the model must not have. */
export type ChatTools = { format: CallFormat | null; schemas: ToolSchema[]; withheld: readonly string[] };

/** What the chat services work with. */
export type ChatDeps = {
  db: Database;
  engine: GenerationService;
  emit: Emit;
  saving: Saving;
  settings: () => Settings;
  models: {
    /** How to load it, its name, and the sampling that was set for it. @throws LonghandError `model-missing` */
    target(modelId: ModelId | null): { target: LoadTarget; name: string; sampling: SamplingSettings };
    /** Tokens of context it has when it is loaded, as far as that is known before; 0: nobody knows. */
    contextLengthOf(modelId: ModelId): number;
    /** How it is asked, where it runs on an engine elsewhere; null: it does not. */
    elsewhere(modelId: ModelId | null): LoadTarget | null;
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
