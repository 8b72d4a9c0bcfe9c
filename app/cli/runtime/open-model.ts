import { resolve } from 'node:path';
import type * as Addon from '../../../native/addon/index.d.ts';
import { abortFlag, loadAddon } from '../../engine/process/addon.ts';
import { readModelText } from '../../engine/process/model/tokenizer-files.ts';
import { builtInModels } from '../../models/registry/built-in-models.ts';
import type { ModelText } from '../../text/model-text.ts';
import type { Context, MODEL_FLAGS, Values } from './command.ts';

export type Opened = {
  readonly addon: typeof Addon;
  readonly path: string;
  readonly native: Addon.Model;
  /** The file of the vision tower, if given. */
  readonly tower: string | undefined;
  close(): void;
};

/** A model that ships with Longhand has a name: `starter`, or `assistant` where the package has it. The first one is the default. */
export function modelPath(context: Context, path?: string): string {
  const shipped = builtInModels(context.places.resources);
  const model = path === undefined ? shipped[0] : shipped.find(({ id }) => id === path);
  return model?.path ?? resolve(context.places.here, path ?? '.');
}

/** The name of a model in output: as the user gave it, or else its own. */
export const modelNameOf = (context: Context, path?: string): string =>
  path ?? builtInModels(context.places.resources)[0]?.id ?? 'none';

export const addonOf = ({ places }: Context, standin = false): typeof Addon =>
  loadAddon(standin ? places.standin : places.addon);

/** Loads weights with a progress bar; Ctrl-C cancels. */
export async function openModel(context: Context, values: Values<typeof MODEL_FLAGS>): Promise<Opened> {
  const addon = addonOf(context, values['metal-emulator']);
  const device = values.device ?? (values['metal-emulator'] ? 'metal' : undefined);
  const path = modelPath(context, values.model);
  const tower = values.vision === undefined ? undefined : resolve(context.places.here, values.vision);
  const bar = context.terminal.progress('loading');
  const { flag, release } = abortFlag(addon, context.signal);
  try {
    const native = await addon.load(path, {
      ...(device !== undefined && { device }),
      ...(values.threads !== undefined && { threads: values.threads }),
      ...(values['metal-emulator'] && { standin: true }),
      ...(tower !== undefined && { vision: tower }),
      signal: flag,
      onProgress: (done, total) => bar.show(done, total),
    });
    return { addon, path, native, tower, close: () => native.close() };
  } finally {
    release();
    bar.end();
  }
}

/** @throws LonghandError `model-broken` without a usable tokenizer */
export const textOf = (addon: typeof Addon, path: string): Promise<ModelText> => readModelText(addon, path);
