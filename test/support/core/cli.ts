// The `longhand` command, run inside a test's process.
import { join } from 'node:path';
import { main } from '../../../app/cli/main.ts';
import type { Places } from '../../../app/cli/runtime/command.ts';
import { createTerminal } from '../../../app/cli/runtime/terminal.ts';
import { repository } from '../addon.ts';

const built = (name: string) => join(repository, 'build/native/Release', name);
const places: Omit<Places, 'here'> = {
  addon: built('longhand.node'),
  standin: built(process.platform === 'darwin' ? 'longhand.node' : 'longhand-metal.node'),
  worker: join(repository, 'app/text/jinja/template-process.ts'),
  pictureWorker: join(repository, 'app/pictures/picture-process.ts'),
  documentParser: join(repository, 'app/documents/parse/parser-process.ts'),
  documentWorker: join(repository, 'app/documents/parse/parser-worker.ts'),
  engine: join(repository, 'app/engine/process/main.ts'),
  migrations: join(repository, 'app/store/database/migrations'),
  resources: join(repository, 'resources'),
};

export type Ran = { code: number; out: string; err: string };

/** `signal`: Ctrl-C. `isTTY`: somebody watches, and is shown how far it is. `addon`: another one than the engine itself. */
export async function longhand(
  here: string,
  args: readonly string[],
  signal?: AbortSignal,
  isTTY = false,
  addon = places.addon,
): Promise<Ran> {
  const ran = { out: '', err: '' };
  const stream = (name: 'out' | 'err') => ({
    isTTY,
    write: (text: string) => {
      ran[name] += text;
    },
  });
  const terminal = createTerminal(stream('out'), stream('err'), {});
  const code = await main(args, { ...places, addon, here }, terminal, signal ?? new AbortController().signal);
  return { code, ...ran };
}

/** The single object that a command prints with --json. */
export async function answered<T>(here: string, args: readonly string[]): Promise<T & { code: number }> {
  const { code, out } = await longhand(here, [...args, '--json']);
  return { code, ...JSON.parse(out) };
}
