import { spawn } from 'node:child_process';

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { converterByFork } from '../conversion/process/fork-converter.ts';
import { createCore } from '../core/core.ts';
import { parserByFork } from '../documents/parse/fork-parser.ts';
import { engineByFork } from '../engine/client/fork-engine.ts';
import { codeOfSystem, failureOf, LonghandError } from '../protocol/index.ts';
import { defaultDataFolder } from '../store/folder/data-dir.ts';
import { startApiServer } from './api/api-server.ts';
import { freshAddress, reachIn } from './one-time-address.ts';
import { startBrowserHost } from './web-server.ts';

//  Longhand in a browser, from the root of the tree: node app/server/main.ts [--data DIR] [--port N] [--no-open]

/** Paths of the parts of the app, passed to the core by a shell. */
export type Places = {
  engine: string;
  /** Entry file of the template worker. */
  worker: string;
  /** Entry file of the process that decodes pictures. */
  pictureWorker: string;
  /** Entry files of the document parser process and of its thread. */
  documentParser: string;
  documentWorker: string;
  /** Entry file of the worker that runs JavaScript for models. */
  sandbox: string;
  /** Entry file of the process that makes smaller versions of models. */
  converter: string;
  addon: string;
  migrations: string;
  resources: string;
  renderer: string;
};

let givenUmask = process.umask();

export type Arguments = { data: string; port: number | undefined; open: boolean; help: boolean };

const HELP = `npm start -- [--data DIR] [--port N] [--no-open]

  --data DIR   data folder; default the one of the app
  --port N     port of the local address; default the one of last time
  --no-open    do not open a browser window
`;

export function readArguments(argv: readonly string[]): Arguments {
  const values = parsed(argv);
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536)) {
    throw new LonghandError('bad-request', `[--port] "${values.port}" is not a port; 0 to 65535 is allowed`);
  }
  return { data: values.data ?? defaultDataFolder(), port, open: values.open, help: values.help };
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        data: { type: 'string' },
        port: { type: 'string' },
        open: { type: 'boolean', default: true },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowNegative: true,
    }).values;
  } catch (error) {
    const problem = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new LonghandError(
      'bad-request',
      `[longhand] ${problem}; the options are --data, --port, --no-open and --help`,
    );
  }
}

/** Runs until told to end. Returns an exit code if it could not start. */
export async function runBrowserHost(
  places: Places,
  version: { version: string; commit: string },
  argv: readonly string[],
) {
  try {
    const wanted = readArguments(argv);
    if (wanted.help) {
      process.stdout.write(HELP);
      return 0;
    }
    const host = await createCore({
      dataFolder: wanted.data,
      migrations: places.migrations,
      pictureWorker: places.pictureWorker,
      sandbox: places.sandbox,
      resources: places.resources,
      startEngine: engineByFork(places.engine, places),
      startParser: parserByFork(places),
      startServer: startApiServer,
      models: { startConverter: converterByFork(places) },
      about: { ...version, shell: 'browser' },
    });
    const served = await startBrowserHost({
      host,
      renderer: places.renderer,
      ...(wanted.port !== undefined && { port: wanted.port }),
    });
    host.announce(served.reach);
    process.stdout.write(`Longhand is ready: ${served.address()}\n`);
    if (wanted.open) openBrowser(served.address());
    endWithSignals(async () => {
      await served.close();
      await host.close();
    });
    return served;
  } catch (error) {
    return explain(error);
  }
}

/** If another Longhand uses the data folder, opens that one. Other errors are reported in one line. */
async function explain(error: unknown): Promise<number> {
  const reach = reachIn(error);
  try {
    if (reach === null) throw error;
    process.stdout.write(`Longhand is already running: ${await freshAddress(reach)}\n`);
    openBrowser(await freshAddress(reach));
    return 0;
  } catch (failure) {
    if (!(failure instanceof LonghandError) && codeOfSystem(failure) === null) throw failure;
    const { code, message } = failureOf(failure);
    process.stderr.write(`${message}\n`);
    return code === 'bad-request' ? 2 : 1;
  }
}

/** Ends even if something hangs, such as a network drive without its server: everything that
 *  was acknowledged is on disk by then. */
export function endWithSignals(close: () => Promise<void>, timeoutMs = 10_000) {
  let ending = false;
  const end = async () => {
    // A second signal exits at once.
    if (ending) process.exit(1);
    ending = true;
    setTimeout(() => process.exit(1), timeoutMs);
    // Whatever could not be closed ends with the process.
    await close().catch(console.error);
    process.exit(0);
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  process.on('SIGHUP', end);
}

/** The command line of the program that opens a URL is visible to every user of the machine, so the ticket in it is one that
 *  nobody else can use: it works once, and, if the system reports the user of a connection, for this user only. Without a display
 *  nothing is opened; the URL was printed. */
function openBrowser(address: string) {
  const hasDisplay = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!hasDisplay) return;
  const [command, ...rest] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  // A browser that starts now inherits the user's original umask.
  const own = process.umask(givenUmask);
  const child = spawn(command as string, [...rest, address], { stdio: 'ignore', detached: true });
  process.umask(own);
  child.on('error', () => {});
  child.unref();
}

/** Paths below the root of the tree. `entry`: the file that was started, a source or the bundle in dist. */
export function placesBelow(root: string, entry: string): Places {
  const source = entry.endsWith('.ts');
  const bundle = join(root, 'dist', 'main');
  return {
    engine: source ? join(root, 'app', 'engine', 'process', 'main.ts') : join(bundle, 'engine.js'),
    worker: source ? join(root, 'app', 'text', 'jinja', 'template-process.ts') : join(bundle, 'template-worker.js'),
    pictureWorker: source ? join(root, 'app', 'pictures', 'picture-process.ts') : join(bundle, 'picture-worker.js'),
    documentParser: source
      ? join(root, 'app', 'documents', 'parse', 'parser-process.ts')
      : join(bundle, 'document-parser.js'),
    documentWorker: source
      ? join(root, 'app', 'documents', 'parse', 'parser-worker.ts')
      : join(bundle, 'document-worker.js'),
    sandbox: source ? join(root, 'app', 'tools', 'sandbox', 'sandbox-worker.ts') : join(bundle, 'sandbox-worker.js'),
    converter: source ? join(root, 'app', 'conversion', 'process', 'main.ts') : join(bundle, 'converter.js'),
    addon: join(root, 'build', 'native', 'Release', 'longhand.node'),
    migrations: source ? join(root, 'app', 'store', 'database', 'migrations') : join(bundle, 'migrations'),
    resources: join(root, 'resources'),
    renderer: join(root, 'dist', 'renderer'),
  };
}

function versionOf(root: string): { version: string; commit: string } {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version, commit: process.env.LONGHAND_COMMIT ?? '' };
}

if (import.meta.main) {
  // Chats are readable by their owner only.
  givenUmask = process.umask(0o077);
  const root = process.env.LONGHAND_ROOT ?? process.cwd();
  const ended = await runBrowserHost(placesBelow(root, process.argv[1] ?? ''), versionOf(root), process.argv.slice(2));
  if (typeof ended === 'number') process.exitCode = ended;
}
