import type { Rag } from '../documents/answer/rag.ts';
import type { GenerationService } from '../engine/client/generation-service.ts';
import type { Exemplar, LoadTarget } from '../engine/ipc-protocol.ts';
import type { Emit, ModelId, SamplingSettings, Settings } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import type { Saving } from '../store/folder/save-notices.ts';
import type { Measured } from '../store/runs.ts';
import type { Tool as ToolSchema } from '../text/chat-template.ts';
import type { CallFormat } from '../text/tool-calls/call-formats.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { PictureStore } from './pictures.ts';

/** The tools of a chat. `format`: how the model's template writes calls; null: a remote engine parses them. `withheld`:
 *  tools whose results must not reach the model. */
export type ChatTools = { format: CallFormat | null; schemas: ToolSchema[]; withheld: readonly string[] };

/** Answers that were written for the built-in assistant, with the messages that they answer (prompt/written-answers.ts). */
export type WrittenAnswers = {
  /** The answer to the message that is most like this one, weighed by how alike they are; null if none is. `later`: the message goes on
   *  with a conversation, so it means less by itself. `given`: answers it has had already. */
  like(message: string, asked?: { later?: boolean; given?: readonly string[] }): Promise<Exemplar | null>;
};

/** Dependencies of the chat services. */
export type ChatDeps = {
  db: Database;
  engine: GenerationService;
  emit: Emit;
  saving: Saving;
  settings: () => Settings;
  models: {
    /** How to load a model, its name, and the sampling set for it. @throws LonghandError `model-missing` */
    target(modelId: ModelId | null): { target: LoadTarget; name: string; sampling: SamplingSettings };
    /** Context length in tokens once loaded, as far as known beforehand; 0: unknown. */
    contextLengthOf(modelId: ModelId): number;
    /** The target of a model on a remote engine; null for a local one. */
    remote(modelId: ModelId | null): LoadTarget | null;
    /** Whether a chat thinks when neither it nor the settings decide. */
    thinksByDefault(modelId: ModelId): boolean;
    /** 0: unknown. */
    parametersOf(modelId: ModelId): number;
    /** Whether the model has vision; null: the default model. */
    sees(modelId: ModelId | null): boolean;
    used(modelId: ModelId): void;
  };
  /** Finds the passages that answer a question. */
  answering: Rag;
  /** Lead what the built-in assistant answers. */
  writtenAnswers: WrittenAnswers;
  tools: Toolbox;
  pictures: PictureStore;
  /** Called with the measurements of a finished answer. */
  measured: (answer: Omit<Measured, 'batch' | 'at' | 'engine' | 'disturbed' | 'curve'>) => void;
  now: () => number;
};
