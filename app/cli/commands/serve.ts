import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createCore } from '../../core/core.ts';
import type { ServedModel } from '../../core/inference.ts';
import { parserByFork } from '../../documents/parse/fork-parser.ts';
import { engineByFork } from '../../engine/client/fork-engine.ts';
import { LonghandError, originOf } from '../../protocol/index.ts';
import { startApiServer } from '../../server/api/api-server.ts';
import { reachIn } from '../../server/one-time-address.ts';
import { defaultDataFolder } from '../../store/folder/data-dir.ts';
import { type Context, command, UsageError } from '../runtime/command.ts';
import { DATA_FLAG } from '../runtime/with-core.ts';

const DEFAULT_PORT = 4880;
const DEFAULT_NETWORK_PORT = 4881;
const MIN_KEY = 8;

export const serve = command({
  name: 'serve',
  summary: 'Let other programs on this computer use your models (OpenAI, Anthropic and Ollama requests).',
  usage: '',
  flags: {
    port: {
      kind: 'number',
      value: 'N',
      help: `port on 127.0.0.1; 0 picks a free one (default: ${DEFAULT_PORT})`,
    },
    key: {
      kind: 'text',
      value: 'KEY',
      help: 'key that programs must send (default: a new one); LONGHAND_KEY hides it from other users',
    },
    'no-key': { kind: 'yes', help: 'do not require a key from programs run by this user' },
    origin: { kind: 'texts', value: 'ORIGIN', help: 'also accept web pages from this origin (can be repeated)' },
    network: { kind: 'yes', help: 'also serve other devices of the local network, over HTTPS and with the key' },
    'network-port': {
      kind: 'number',
      value: 'N',
      help: `its port; 0 picks a free one (default: ${DEFAULT_NETWORK_PORT})`,
    },
    certificate: { kind: 'text', value: 'FILE', help: 'your own certificate (PEM); by default one is made' },
    'certificate-key': { kind: 'text', value: 'FILE', help: 'its key (PEM)' },
    model: { kind: 'text', value: 'PATH', help: 'also serve a model that is not in the list' },
    ...DATA_FLAG,
  },
  async run(context, values) {
    const port = portOf('--port', values.port, DEFAULT_PORT);
    const network = networkOf(context, values);
    const origins = (values.origin ?? []).map(originIn);
    const key = values['no-key'] ? null : keyOf(values.key ?? process.env.LONGHAND_KEY);
    if (values['no-key'] && values.key !== undefined) throw new UsageError('[serve] give either --key or --no-key');
    if (values['no-key'] && network) throw new UsageError('[serve] --network needs a key: leave out --no-key');
    const host = await openHost(context, values.data);
    try {
      const added =
        values.model === undefined
          ? null
          : await host.handlers['models.import']({ path: resolve(context.places.here, values.model) });
      const server = await startApiServer({
        inference: host.inference,
        version: versionBeside(context.places.resources),
        port,
        keys: key === null ? null : [key],
        origins: () => origins,
        network: network && { ...network, dataFolder: host.dataFolder },
        refused: ({ status, reason, path }) => context.terminal.note(`refused ${path}: ${status} ${reason}`),
      });
      if (server.network.status === 'failed') {
        await server.close();
        throw new LonghandError(server.network.reason === 'taken' ? 'conflict' : 'unreadable', server.network.message);
      }
      const models = await host.inference.models();
      const named = models.find(({ entry }) => added !== null && entry?.id === added.id)?.id;
      context.terminal.out(
        `${JSON.stringify({
          address: server.address,
          key,
          ...(server.network.status === 'on' && {
            network: { addresses: server.network.addresses, fingerprint: server.network.fingerprint },
          }),
          ...(named !== undefined && { model: named }),
          models: models.map(({ id }: ServedModel) => id),
        })}\n`,
      );
      await interrupted(context.signal);
      await server.close();
      return 0;
    } finally {
      await host.close();
    }
  },
});

async function openHost({ places }: Context, data: string | undefined) {
  try {
    return await createCore({
      dataFolder: data ?? defaultDataFolder(),
      migrations: places.migrations,
      resources: places.resources,
      pictureWorker: places.pictureWorker,
      startEngine: engineByFork(places.engine, places),
      startParser: parserByFork(places),
      preload: false,
      about: { version: '', commit: '', shell: 'browser' },
    });
  } catch (error) {
    if (reachIn(error) === null) throw error;
    throw new LonghandError(
      'data-folder-held',
      '[serve] Longhand is running with this data folder; quit it first, or choose another folder with --data',
    );
  }
}

/** The version that clients query first. */
function versionBeside(resources: string): string {
  try {
    return (JSON.parse(readFileSync(join(resources, '..', 'package.json'), 'utf8')) as { version: string }).version;
  } catch {
    return '0.0.0'; // resources of a package are not beside package.json
  }
}

function portOf(flag: string, port: number | undefined, otherwise: number): number {
  const wanted = port ?? otherwise;
  if (Number.isInteger(wanted) && wanted >= 0 && wanted < 65536) return wanted;
  throw new UsageError(`[${flag}] got ${wanted}, expected a port from 0 to 65535`);
}

type NetworkFlags = {
  network?: boolean | undefined;
  'network-port'?: number | undefined;
  certificate?: string | undefined;
  'certificate-key'?: string | undefined;
};

/** null: for this computer only. */
function networkOf({ places }: Context, flags: NetworkFlags) {
  const { certificate, 'certificate-key': key } = flags;
  if (!flags.network) {
    if (flags['network-port'] !== undefined || certificate !== undefined || key !== undefined)
      throw new UsageError('[serve] --network-port, --certificate and --certificate-key need --network');
    return null;
  }
  if ((certificate === undefined) !== (key === undefined))
    throw new UsageError('[serve] --certificate and --certificate-key go together');
  const files =
    certificate === undefined || key === undefined
      ? null
      : { certificate: resolve(places.here, certificate), key: resolve(places.here, key) };
  return { port: portOf('--network-port', flags['network-port'], DEFAULT_NETWORK_PORT), certificate: files };
}

function originIn(given: string): string {
  const origin = originOf(given);
  if (origin !== null) return origin;
  throw new UsageError(`[--origin] got "${given}", expected the origin of a page, as https://chat.example`);
}

function keyOf(given: string | undefined): string {
  if (given === undefined) return `lh-${randomBytes(24).toString('base64url')}`;
  if (given.length >= MIN_KEY && /^[\x21-\x7e]+$/.test(given)) return given;
  throw new UsageError(`[--key] a key has at least ${MIN_KEY} letters, digits or signs, and no spaces`);
}

const interrupted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
