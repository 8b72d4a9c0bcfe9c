import { forkChild } from '../../process/fork-child.ts';
import type { StartEngine } from '../ipc-protocol.ts';
import { ENGINE_V8_OPTIONS } from './v8-options.ts';

/** Paths passed to the engine process. */
export type EngineFiles = { addon: string; worker: string; pictureWorker: string };

/** Starts the engine as a child process of Node. `entry`: main.ts or its bundle. */
export const engineByFork =
  (entry: string, { addon, worker, pictureWorker }: EngineFiles): StartEngine =>
  async () =>
    forkChild(entry, [addon, worker, pictureWorker], { output: 'inherit', errors: 'pipe' }, ENGINE_V8_OPTIONS);
