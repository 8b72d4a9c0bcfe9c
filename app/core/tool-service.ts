import type { Engine } from '../engine/client/engine-client.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import type { Handlers } from '../protocol/index.ts';
import type { Database } from '../store/database.ts';
import { callFormatOf } from '../text/tool-calls/call-formats.ts';
import { calculator } from '../tools/built-in/calculator.ts';
import { clock } from '../tools/built-in/clock.ts';
import { type DocumentsAsked, readDocument, searchDocuments } from '../tools/built-in/documents.ts';
import { createToolbox, type Toolbox } from '../tools/toolbox.ts';

//  The tools of this core, and what the page asks about them.

export type ToolService = { toolbox: Toolbox; handlers: Pick<Handlers, 'tools.list'> };

export type ToolServiceOptions = {
  db: Database;
  engine: Engine;
  models: Pick<ModelRegistry, 'target'>;
  documents: DocumentsAsked;
  now: () => number;
};

export function createToolService({ db, engine, models, documents, now }: ToolServiceOptions): ToolService {
  const builtIn = [calculator, clock(now), searchDocuments(db, documents), readDocument(db, documents)];
  const toolbox = createToolbox(() => builtIn);
  return {
    toolbox,
    handlers: {
      async 'tools.list'({ modelId }) {
        const { path, template } = models.target(modelId).target;
        const able = callFormatOf(await engine.ask('template', { path, template })) !== null;
        return { able, tools: toolbox.entries() };
      },
    },
  };
}
