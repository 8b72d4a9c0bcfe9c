import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, sep } from 'node:path';
import type { ReadableStream } from 'node:stream/web';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Host } from '../host.ts';
import { failureOf, uploadPath } from '../protocol/index.ts';
import { createAccess, folderToken } from './access.ts';
import { lastPort, rememberPort } from './last-port.ts';
import { fileBelow, pageHeaders, typeOf } from './policy.ts';
import { serveSockets } from './socket.ts';
import { createUploads } from './uploads.ts';

const portsTried = 50;

export type BrowserHost = {
  /** With the token; whoever has it may use this Longhand. */
  address: string;
  port: number;
  close(): Promise<void>;
};

export type BrowserHostOptions = {
  host: Pick<Host, 'connect' | 'dataFolder' | 'refusedVisitor'>;
  /** The built page: a folder with index.html. */
  renderer: string;
  /** The first port that is tried; 0 takes any. Without it the one of the last time, so that an open page comes back. */
  port?: number;
};

/** Serves the page and the protocol to browsers of this machine. */
export async function startBrowserHost({
  host,
  renderer,
  port = lastPort(host.dataFolder),
}: BrowserHostOptions): Promise<BrowserHost> {
  const uploads = createUploads();
  const app = new Hono();
  // Only text may decide; the server takes what the app answers once the port, and with it the access, is known.
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  const taken = await listen(server, port);
  rememberPort(host.dataFolder, taken);
  const access = createAccess(folderToken(host.dataFolder), taken);
  const headers = pageHeaders([`ws://127.0.0.1:${taken}`, `ws://localhost:${taken}`]);

  app.use(async (context, next) => {
    const { host: asked = '', origin } = context.req.header();
    const turnAway = () => host.refusedVisitor({ host: asked, about: origin ?? '' });
    if (!access.hostAllowed(asked)) {
      turnAway();
      return refuse(context, 400, 'This address is not served here.');
    }
    if (!access.originAllowed(origin)) {
      turnAway();
      return refuse(context, 403, 'Other pages may not ask here.');
    }
    const token = context.req.query('token');
    if (token !== undefined && context.req.path === '/') return enter(context, token);
    if (!access.cookieRight(context.req.header('cookie'))) {
      return refuse(context, 401, 'Open the address that Longhand printed when it started.');
    }
    await next();
    for (const [name, value] of Object.entries(headers)) context.res.headers.set(name, value);
  });

  function enter(context: Context, token: string) {
    if (!access.tokenRight(token)) return refuse(context, 403, 'This address is not (or no longer) the right one.');
    const { name, value } = access.cookie;
    context.header('Set-Cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`);
    context.header('Referrer-Policy', 'no-referrer');
    context.header('Cache-Control', 'no-store');
    return context.redirect('/');
  }

  app.post(uploadPath, async (context) => {
    const { raw } = context.req;
    if (!access.originAllowed(context.req.header('origin'), { required: true }) || !raw.body) {
      return context.json(
        { failure: { code: 'bad-request', message: '[upload] the bytes of a file are wanted' } },
        400,
      );
    }
    try {
      const body = raw.body as ReadableStream<Uint8Array>;
      return context.json(await uploads.receive(body, context.req.query('name') ?? 'file'));
    } catch (error) {
      return context.json({ failure: failureOf(error) }, 400);
    }
  });
  app.get('*', (context) => serveFile(context, renderer));

  const sockets = serveSockets(server, access, host.connect);
  return {
    address: `http://127.0.0.1:${taken}/?token=${access.token}`,
    port: taken,
    async close() {
      sockets.close();
      uploads.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const refuse = (context: Context, status: 400 | 401 | 403, reason: string) =>
  context.text(reason, status, {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'",
  });

/** Any path without a file is the page itself. Files under assets/ have their hash in their name and never change. */
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

/** On 127.0.0.1 alone; a port that is taken is passed over. */
async function listen(server: Server, first: number): Promise<number> {
  for (let port = first; ; port = port === 0 ? 0 : port + 1) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => {
          server.off('error', reject);
          resolve();
        });
      });
      return (server.address() as AddressInfo).port;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const passable = code === 'EADDRINUSE' || code === 'EACCES';
      if (!passable || port === 0 || port - first >= portsTried) throw error;
    }
  }
}
