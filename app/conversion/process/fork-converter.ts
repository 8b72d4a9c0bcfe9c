import { join } from 'node:path';
import { forkChild } from '../../process/fork-child.ts';
import type { StartConverter } from './messages.ts';

/** Entry file of the process (main.ts or its bundle), the addon, and the folder with the manual. */
export type ConverterFiles = { converter: string; addon: string; resources: string };

/** Starts it as a child process of Node. */
export const converterByFork =
  ({ converter, addon, resources }: ConverterFiles): StartConverter =>
  async () =>
    forkChild(converter, [addon, join(resources, 'help')], { output: 'ignore', errors: 'pipe' });
