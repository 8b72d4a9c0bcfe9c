import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Inference } from '../../core/inference.ts';
import { guarded, LonghandError, type NetworkState } from '../../protocol/index.ts';
import { keepRoom, listen } from '../listen.ts';
import { type CertificateFiles, type Identity, identityIn, ownAddresses, ownNames } from '../network-identity.ts';
import { type AccessControlOptions, createAccessControl, LOOPBACK, type Refusal } from './access-control.ts';
import { createAnswers } from './answers.ts';
import { anthropic, anthropicProblem } from './anthropic.ts';
import { ollama, ollamaProblem } from './ollama.ts';
import { openAi } from './openai/openai.ts';
import { problemResponse } from './openai/openai-objects.ts';
import { responses } from './openai/responses.ts';
import { type Problem, problemOf } from './problems.ts';
import { rerank } from './rerank.ts';

/** `network`: the same models for other devices, over TLS; null if that is off. */
export type ApiServer = {
  address: string;
  port: number;
  network: NetworkState;
  close(): Promise<void>;
};

export type ApiServerOptions = {
  inference: Inference;
  version: string;
  /** 0: any free port. */
  port: number;
  keys: AccessControlOptions['keys'];
  origins?: AccessControlOptions['origins'];
  refused?: AccessControlOptions['refused'];
  follow?: AccessControlOptions['follow'];
  network?: NetworkOptions | null;
  /** How long a request may take to arrive. */
  arrivalMs?: number;
};

/** `certificate`: the user's own; null for one that is made in the data folder. */
export type NetworkOptions = { port: number; dataFolder: string; certificate: CertificateFiles | null };

/** Timeout for receiving a request body. */
const requestTimeoutMs = 60_000;
const headersTimeoutMs = 10_000;

/** Serves models to other programs on this machine, on 127.0.0.1 only, and if wanted to other devices of the local network, over TLS
 *  and never without a key. What keeps the second from starting is its state; the first goes on.
 *  @throws LonghandError `conflict` if the port is in use */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { inference, version, keys, origins = () => [], refused = () => {}, follow, network = null } = options;
  const { arrivalMs = requestTimeoutMs } = options;
  const answers = createAnswers(inference);

  async function serve(app: Hono, server: Server, wanted: number, hosts?: () => readonly string[]) {
    server.requestTimeout = arrivalMs;
    server.headersTimeout = Math.min(headersTimeoutMs, arrivalMs);
    const port = await listen(server, wanted, hosts ? 'network' : 'here');
    keepRoom(server, port);
    app.route('/', createAccessControl({ port, hosts, keys, origins, refused, follow }, refusal));
    app.route('/v1/messages', anthropic(inference, answers));
    app.route('/v1/responses', responses(answers));
    app.route('/v1/rerank', rerank(inference));
    app.route('/v1', openAi(inference, answers));
    app.route('/api', ollama(inference, answers, version));
    app.get('/', (context) => context.text('Longhand is running'));
    app.notFound((context) =>
      inDialect(
        context,
        problemOf(new LonghandError('not-found', `[path] ${context.req.method} ${context.req.path} is not served`)),
      ),
    );
    return port;
  }

  const servers: Server[] = [];
  const serverFor = (app: Hono, tls?: { cert: string; key: string }) => {
    const made = createAdaptorServer({
      fetch: app.fetch,
      overrideGlobalObjects: false,
      serverOptions: {
        // How often the two times below are looked at; by itself twice a minute, which would make them half a minute longer.
        connectionsCheckingInterval: Math.min(5000, arrivalMs / 2),
        ...(tls && { ...tls, minVersion: 'TLSv1.2', handshakeTimeout: headersTimeoutMs }),
      },
      ...(tls && { createServer: createTlsServer }),
    }) as Server;
    servers.push(made);
    return made;
  };

  async function serveNetwork({ port, dataFolder, certificate }: NetworkOptions): Promise<NetworkState> {
    try {
      if (keys === null) throw new LonghandError('permission', '[network] other devices need a key');
      const identity = identityIn(dataFolder, certificate);
      const { cert, key, names, fingerprint } = identity;
      const app = new Hono();
      const server = serverFor(app, { cert, key });
      // A client that speaks no TLS, or gives up, is no news.
      server.on(
        'tlsClientError',
        guarded(console.error, (_: Error, socket: Socket) => void socket.destroy()),
      );
      const taken = await serve(app, server, port, () => [...names, ...ownAddresses(), ...LOOPBACK]);
      return { status: 'on', port: taken, addresses: urlsOf(identity, taken), fingerprint, certificate: cert };
    } catch (error) {
      const code = error instanceof LonghandError ? error.code : null;
      const reason =
        code === 'conflict' ? 'taken' : code === 'unreadable' || code === 'not-found' ? 'certificate' : 'other';
      return { status: 'failed', reason, port, message: error instanceof Error ? error.message : String(error) };
    }
  }

  const app = new Hono();
  const port = await serve(app, serverFor(app), options.port);
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    network: network ? await serveNetwork(network) : { status: 'off' },
    async close() {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** Names first: addresses change. */
const urlsOf = ({ addresses }: Identity, port: number): string[] =>
  [...ownNames().slice(-1), ...addresses].map((host) => `https://${isIPv6(host) ? `[${host}]` : host}:${port}`);

/** Every error is reported in the format of the client's API. */
function inDialect({ req }: Context, problem: Problem): Response {
  if (req.path.startsWith('/v1/messages')) return anthropicProblem(problem);
  return req.path.startsWith('/api/') ? ollamaProblem(problem) : problemResponse(problem);
}

const refusal = (context: Context, { status, reason, wait }: Refusal): Response =>
  inDialect(context, {
    status,
    wait,
    code: status === 429 ? 'too-busy' : status === 413 ? 'too-large' : 'permission',
    message: reason,
  });
