import { basename, join } from 'node:path';
import type { Engine } from '../../engine/client/engine-client.ts';
import type { Inspected } from '../../engine/ipc-protocol.ts';
import { LonghandError, takesVisionFile } from '../../protocol/index.ts';
import type { Disk } from '../storage/fs-probe.ts';
import { isBeingWritten } from '../storage/model-file.ts';
import { declaredName, readableName, stemOf, withLabel } from '../storage/model-name.ts';
import { labelOf } from '../storage/quantisation-label.ts';

//  What the files of a model say about it.

type Asking = Pick<Engine, 'ask'>;

/** @throws LonghandError `unreadable`, with reason `being-written` if a file is incomplete */
export async function inspectFiles(engine: Asking, path: string, vision: string | null): Promise<Inspected> {
  try {
    return await engine.ask('inspect', { path, ...(vision !== null && { vision }) });
  } catch (error) {
    const broken = error instanceof LonghandError && error.code === 'model-broken';
    if (!broken || !(await isBeingWritten(path))) throw error;
    const details = { reason: 'being-written' };
    throw new LonghandError('unreadable', error.message, { details, cause: error });
  }
}

/** The same for a vision tower that was just chosen.
 *  @throws LonghandError `unreadable`, with reason `other-vision` if it does not belong to the model */
export async function inspectWithVision(engine: Asking, path: string, vision: string): Promise<Inspected> {
  const inspected = await inspectFiles(engine, path, vision).catch((error: unknown) => {
    if (error instanceof LonghandError && error.code === 'model-broken') throw otherVision(error.message, error);
    throw error;
  });
  if (takesVisionFile(inspected)) return inspected;
  throw otherVision(`[models] ${path} takes no vision tower from a file; a GGUF model of Qwen3.5 is allowed`);
}

const otherVision = (message: string, cause?: unknown) =>
  new LonghandError('unreadable', message, { details: { reason: 'other-vision' }, cause });

/** The name in the files, or else that of the folder or file. Folders of the Hugging Face cache are hashes, so
 *  there the repository's name is used. `declared`: names in a GGUF file, best first; `given`: by the caller, used unless
 *  it only repeats the name of the file. */
export async function nameOf(disk: Disk, path: string, declared: readonly string[], given?: string): Promise<string> {
  const repository = path.match(/models--[^/\\]+--([^/\\]+)/)?.[1];
  if (given !== undefined && given !== stemOf(path)) return given;
  const own = declared.map(readableName).find((name) => name !== null);
  if (own !== undefined && own !== null) return withLabel(own, labelOf(basename(path)));
  return repository ?? declaredName(await disk.text(join(path, 'config.json'))) ?? stemOf(path);
}
