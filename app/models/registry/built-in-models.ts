import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ASSISTANT, type ModelId, STARTER } from '../../protocol/index.ts';

/** A model that ships with the app. */
export type BuiltInModel = { id: ModelId; name: string; path: string };

/** The models in `resources`, the default first: the assistant, if the package has it (resources/assistant describes how it
 *  is made), and the starter, which is used for the engine's self-test. `LONGHAND_ASSISTANT=off` hides the assistant: most
 *  tests know the starter's answers. */
export function builtInModels(resources: string): BuiltInModel[] {
  const assistant = { id: ASSISTANT, name: 'Longhand Assistant', path: join(resources, 'assistant', 'model.gguf') };
  const starter = { id: STARTER, name: 'Starter', path: join(resources, 'starter-model') };
  return existsSync(assistant.path) && process.env.LONGHAND_ASSISTANT !== 'off' ? [assistant, starter] : [starter];
}
