import { createRequire } from 'node:module';
import type * as Addon from '../../../native/addon/index.d.ts';
import { LonghandError } from '../../protocol/index.ts';

/** Loads the native engine into this process: used by the engine process and the command line.
 *  @throws LonghandError `engine-failed` if it is not built, or not for this machine */
export function loadAddon(file: string): typeof Addon {
  try {
    return createRequire(import.meta.filename)(file) as typeof Addon;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new LonghandError('engine-failed', `[engine] ${file} cannot be loaded: ${reason}`, {
      hint: 'npm run build:native compiles it',
      cause: error,
    });
  }
}

/** A signal as a flag for the engine. */
export function abortFlag(addon: typeof Addon, signal: AbortSignal): { flag: Addon.AbortFlag; release: () => void } {
  const flag = new addon.AbortFlag();
  const set = () => flag.set();
  if (signal.aborted) set();
  signal.addEventListener('abort', set);
  return { flag, release: () => signal.removeEventListener('abort', set) };
}
