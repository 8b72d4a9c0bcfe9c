import { type Context, Hono } from 'hono';
import { enterPath, pagePath, ticketPath } from '../protocol/index.ts';
import type { Access } from './auth.ts';
import { isStranger } from './peer-user.ts';
import { createRateLimit } from './rate-limit.ts';
import { pageHeaders } from './static-files.ts';

export type GuardOptions = {
  access: Access;
  port: number;
  /** Reports a refused request. */
  turnedAway(visitor: { host: string; about: string }): void;
};

/** The remote port of a request, as passed on by @hono/node-server. */
export const peerOf = (context: Context): number | undefined =>
  (context.env as { incoming?: { socket: { remotePort?: number } } }).incoming?.socket.remotePort;

export const bearer = (context: Context): string | undefined =>
  /^Bearer ([\w-]{1,100})$/.exec(context.req.header('authorization') ?? '')?.[1];

/** Checks every request to the browser host, and hands out secrets to pages. */
export function createGuard({ access, port, turnedAway }: GuardOptions) {
  const headers = pageHeaders([`ws://127.0.0.1:${port}`, `ws://localhost:${port}`]);
  const guesses = createRateLimit();
  const middleware = new Hono();

  const welcome = (peer: number | undefined): boolean => {
    const stranger = isStranger(peer, port);
    if (stranger) turnedAway({ host: 'another user', about: '' });
    return !stranger;
  };

  middleware.use(async (context, next) => {
    const { host = '', origin } = context.req.header();
    if (!access.hostAllowed(host)) {
      turnedAway({ host, about: origin ?? '' });
      return refuse(context, 400, 'Requests to this host name are not allowed.');
    }
    if (!access.originAllowed(origin) || isForeignPart(context)) {
      turnedAway({ host, about: origin ?? '' });
      return refuse(context, 403, 'Other web pages are not allowed.');
    }
    await next();
    for (const [name, value] of Object.entries(headers)) context.res.headers.set(name, value);
  });

  /** A correct secret is accepted however many wrong ones were given. */
  const wrong = (context: Context) =>
    guesses.wrong()
      ? refuse(context, 429, 'Too many wrong attempts. Wait a minute, then try again.')
      : refuse(context, 403, 'Access denied.');

  middleware.post(enterPath, (context) => {
    if (!access.originAllowed(context.req.header('origin'), { required: true })) return wrong(context);
    if (!welcome(peerOf(context))) return refuse(context, 403, 'This Longhand belongs to another user.');
    const secret = access.enter(bearer(context) ?? '');
    return secret === null ? wrong(context) : answer(context, { secret });
  });
  middleware.post(ticketPath, (context) => {
    // Browsers send an Origin with every POST: no page may request tickets.
    if (context.req.header('origin') !== undefined || !access.keyRight(bearer(context))) return wrong(context);
    return answer(context, { ticket: access.ticket() });
  });
  middleware.get(pagePath, (context) =>
    access.secretRight(bearer(context))
      ? context.body(null, 204)
      : refuse(context, 401, 'This address no longer works. Start Longhand again to get a new one.'),
  );
  return { middleware, welcome, wrong };
}

const answer = (context: Context, value: object) => context.json(value, 200, { 'Cache-Control': 'no-store' });

/** Whether another site's page loads a file of ours as a script or a picture; navigation by a link is allowed. */
function isForeignPart(context: Context): boolean {
  const site = context.req.header('sec-fetch-site');
  return (site === 'cross-site' || site === 'same-site') && context.req.header('sec-fetch-mode') !== 'navigate';
}

export const refuse = (context: Context, status: 400 | 401 | 403 | 413 | 429, reason: string) =>
  context.text(reason, status, {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'",
    'Cache-Control': 'no-store',
  });
