import { join } from 'node:path';
import type { Workshop } from '../../../conversion/making/workshop.ts';
import type { Context } from '../../runtime/command.ts';
import { addonOf } from '../../runtime/open-model.ts';

/** Makes models under the eyes of a user at a terminal; Ctrl-C ends it. */
export const workshopOf = (context: Context): Workshop => ({
  addon: addonOf(context),
  manual: join(context.places.resources, 'help'),
  signal: context.signal,
  command: ['longhand', ...process.argv.slice(2)].join(' '),
  progress: context.terminal.progress,
});
