import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toLonghandError } from '../engine/process/addon-errors.ts';
import { type Failure, failureOf } from '../protocol/index.ts';
import { bench } from './commands/bench.ts';
import { chat } from './commands/chat.ts';
import { convert } from './commands/conversion/convert.ts';
import { quantize } from './commands/conversion/quantize.ts';
import { devices } from './commands/devices.ts';
import { docs } from './commands/docs/docs.ts';
import { doctor } from './commands/doctor.ts';
import { embed } from './commands/embed.ts';
import { evaluate } from './commands/eval/eval.ts';
import { generate } from './commands/generate.ts';
import { inspect } from './commands/inspect.ts';
import { logits } from './commands/logits.ts';
import { loops } from './commands/loops.ts';
import { importModel, link, list, remove, verify } from './commands/models.ts';
import { move } from './commands/move.ts';
import { pull } from './commands/pull.ts';
import { search } from './commands/search.ts';
import { serve } from './commands/serve.ts';
import { tokenize } from './commands/tokenize.ts';
import { trace } from './commands/trace.ts';
import { helpOf, overview, parse } from './runtime/arguments.ts';
import { type Command, type Context, type Places, UsageError } from './runtime/command.ts';
import { createTerminal, type Terminal } from './runtime/terminal.ts';

const COMMANDS: readonly Command[] = [
  chat,
  generate,
  search,
  pull,
  list,
  importModel,
  link,
  verify,
  move,
  remove,
  docs,
  serve,
  tokenize,
  loops,
  logits,
  trace,
  embed,
  evaluate,
  quantize,
  convert,
  inspect,
  devices,
  bench,
  doctor,
];

const EXIT: Partial<Record<Failure['code'], number>> = {
  'bad-request': 2,
  cancelled: 130,
};

/** Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted by Ctrl-C. */
export async function main(
  argv: readonly string[],
  places: Places,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const [name, ...rest] = argv;
  const wantsJson = rest.includes('--json');
  const fail = (code: number, failure: Pick<Failure, 'code' | 'message' | 'hint'>): number => {
    if (wantsJson) terminal.out(`${JSON.stringify({ error: failure })}\n`);
    else terminal.note(terminal.red(failure.message) + (failure.hint ? `\n${failure.hint}` : ''));
    return code;
  };
  try {
    if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
      terminal.out(overview(COMMANDS));
      return name === undefined ? 2 : 0;
    }
    const command = COMMANDS.find((one) => one.name === name || one.was === name);
    if (!command) {
      throw new UsageError(
        `[longhand] "${name}" is not a command; commands: ${COMMANDS.map((one) => one.name).join(', ')}`,
      );
    }
    const { values, words, json, help } = parse(command, rest);
    if (help) {
      terminal.out(helpOf(command));
      return 0;
    }
    const context: Context = { terminal, places, json, signal };
    return (await command.run(context, values as never, words)) ?? 0;
  } catch (error) {
    if (error instanceof UsageError) return fail(2, { code: 'bad-request', message: error.message });
    const failure = failureOf(toLonghandError(error));
    return fail(EXIT[failure.code] ?? 1, failure);
  }
}

/** Paths when run from source or from the bundle. `npm run` changes to the root of the tree and passes on the user's directory. */
function placesOf(env: NodeJS.ProcessEnv): Places {
  const root = env.LONGHAND_ROOT ?? process.cwd();
  const source = join(root, 'app', 'text', 'jinja', 'template-process.ts');
  const built = (name: string) => join(root, 'build', 'native', 'Release', name);
  return {
    addon: built('longhand.node'),
    standin: built(process.platform === 'darwin' ? 'longhand.node' : 'longhand-metal.node'),
    ...(existsSync(source)
      ? {
          worker: source,
          pictureWorker: join(root, 'app', 'pictures', 'picture-process.ts'),
          documentParser: join(root, 'app', 'documents', 'parse', 'parser-process.ts'),
          documentWorker: join(root, 'app', 'documents', 'parse', 'parser-worker.ts'),
          engine: join(root, 'app', 'engine', 'process', 'main.ts'),
          migrations: join(root, 'app', 'store', 'database', 'migrations'),
        }
      : {
          worker: join(root, 'dist', 'main', 'template-worker.js'),
          pictureWorker: join(root, 'dist', 'main', 'picture-worker.js'),
          documentParser: join(root, 'dist', 'main', 'document-parser.js'),
          documentWorker: join(root, 'dist', 'main', 'document-worker.js'),
          engine: join(root, 'dist', 'main', 'engine.js'),
          migrations: join(root, 'dist', 'main', 'migrations'),
        }),
    resources: join(root, 'resources'),
    here: env.npm_lifecycle_event === undefined ? process.cwd() : (env.INIT_CWD ?? process.cwd()),
  };
}

if (import.meta.main) {
  // Chats are readable by their owner only.
  process.umask(0o077);
  const interrupted = new AbortController();
  const interrupt = () => {
    // A second Ctrl-C exits at once.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  // A closed pipe (`| head`) ends the command quietly.
  process.stdout.on('error', () => process.exit(0));
  process.exitCode = await main(process.argv.slice(2), placesOf(process.env), createTerminal(), interrupted.signal);
}
