import { join } from 'node:path';
import { forkChild } from '../../process/fork-child.ts';
import type { StartConverter } from './messages.ts';

/** Entry file of the process (main.ts or its bundle), the addon, the folder with the manual, and the entry file of template-worker. */
export type ConverterFiles = { converter: string; addon: string; resources: string; worker: string };

/** Starts it as a child process of Node. */
export const converterByFork =
  ({ converter, addon, resources, worker }: ConverterFiles): StartConverter =>
  async () =>
    forkChild(converter, [addon, join(resources, 'help'), worker], { output: 'ignore', errors: 'pipe' });
