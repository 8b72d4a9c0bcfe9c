import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join, sep } from 'node:path';
import type { ReadableStream } from 'node:stream/web';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Core } from '../core/core.ts';
import { failureOf, LonghandError, uploadPath } from '../protocol/index.ts';
import type { Reach } from '../store/lock.ts';
import { createAccess } from './auth.ts';
import { keepRoom, listen } from './listen.ts';
import { addressWith } from './one-time-address.ts';
import { lastPort, rememberPort } from './port-file.ts';
import { bearer, createGuard, peerOf, refuse } from './request-guard.ts';
import { serveSockets } from './socket.ts';
import { fileBelow, typeOf } from './static-files.ts';
import { createUploads } from './uploads.ts';

const portsTried = 50;

export type BrowserHost = {
  /** A URL with a ticket that admits one page, once. */
  address(): string;
  /** For other programs of the same user. */
  reach: Reach;
  port: number;
  close(): Promise<void>;
};

export type BrowserHostOptions = {
  host: Pick<Core, 'connect' | 'dataFolder' | 'refusedVisitor'>;
  /** The built page: a folder with index.html. */
  renderer: string;
  /** The first port to try; 0: any. By default the last one, so that an open page reconnects. */
  port?: number;
  heartbeatMs?: number;
};

/** Serves the page and the protocol to browsers on this machine. */
export async function startBrowserHost({
  host,
  renderer,
  port = lastPort(host.dataFolder),
  heartbeatMs,
}: BrowserHostOptions): Promise<BrowserHost> {
  const app = new Hono();
  // Routes are added once the port, and with it the access control, is known.
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  const taken = await listenFrom(server, port);
  const keep = keepRoom(server, taken);
  rememberPort(host.dataFolder, taken);
  const access = createAccess(taken);
  const uploads = createUploads(host.dataFolder);
  forgetToken(host.dataFolder);
  const { middleware, welcome, wrong } = createGuard({ access, port: taken, turnedAway: host.refusedVisitor });
  app.route('/', middleware);

  app.post(uploadPath, async (context) => {
    if (!access.originAllowed(context.req.header('origin'), { required: true })) return wrong(context);
    if (!access.secretRight(bearer(context))) return wrong(context);
    if (!welcome(peerOf(context))) return refuse(context, 403, 'This Longhand belongs to another user.');
    const { raw } = context.req;
    if (!raw.body) {
      return context.json(
        { failure: { code: 'bad-request', message: '[upload] the bytes of a file are wanted' } },
        400,
      );
    }
    try {
      const announced = Number(context.req.header('content-length') ?? 0);
      const body = raw.body as ReadableStream<Uint8Array>;
      const { name = 'file', set } = context.req.query();
      return context.json(await uploads.receive(body, name, announced, set));
    } catch (error) {
      return context.json({ failure: failureOf(error) }, 400);
    }
  });
  app.get('*', (context) => serveFile(context, renderer));

  const sockets = serveSockets(server, {
    access,
    welcome,
    connect: host.connect,
    keep,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  });
  const origin = `http://127.0.0.1:${taken}`;
  return {
    address: () => addressWith(origin, access.ticket()),
    reach: { address: origin, key: access.key },
    port: taken,
    async close() {
      sockets.close();
      uploads.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Earlier versions stored a permanent secret. */
function forgetToken(folder: string): void {
  try {
    rmSync(join(folder, 'browser-token'), { recursive: true, force: true });
  } catch {
    // It is no longer used.
  }
}

/** Serves files, and the page itself for any other path. Files under assets/ have a content hash in their name and never change. */
async function serveFile(context: Context, folder: string): Promise<Response> {
  const file = fileBelow(folder, context.req.path);
  const path = file ?? join(folder, 'index.html');
  const bytes = await readFile(path).catch(() => null);
  if (!bytes) return context.text('The page has not been built: npm run build', 503);
  const lasting = file?.startsWith(join(folder, 'assets') + sep);
  return context.body(new Uint8Array(bytes), 200, {
    'Content-Type': typeOf(path),
    'Cache-Control': lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
}

/** Listens on the first available port. */
async function listenFrom(server: Server, first: number): Promise<number> {
  for (let port = first; ; port = port === 0 ? 0 : port + 1) {
    try {
      return await listen(server, port);
    } catch (error) {
      const passable = error instanceof LonghandError && ['conflict', 'permission'].includes(error.code);
      if (!passable || port === 0 || port - first >= portsTried) throw error;
    }
  }
}
