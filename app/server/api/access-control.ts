import { timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { type Context, Hono } from 'hono';
import { digestOf, type KnownKey, type RequestLog } from '../../core/server-log.ts';
import { isStranger } from '../peer-user.ts';
import { createRateLimit } from '../rate-limit.ts';
import { peerOf } from '../request-guard.ts';

//  Access control. Any web page and any program on this machine can send requests to 127.0.0.1, so these are checked:
//    Host    must name this machine (a foreign name that resolves to 127.0.0.1 does not: DNS rebinding),
//    Origin  must be an allowed one; programs other than browsers send none,
//    key     must be a valid one. If keys are off, the client must belong to the user who started the server, as
//            far as the system reports it.

/** Maximum bytes of a request: a conversation as long as any context. */
export const maxBodyBytes = 16 * 1024 * 1024;

export type AccessControlOptions = {
  port: number;
  /** The names and addresses that requests may be sent to, which change with the network; `*.` stands for one label.
   *  By default those of this machine alone. */
  hosts?: (() => readonly string[]) | undefined;
  /** null: every program of this user has access. A function is called for every request, so that revoked keys stop working. */
  keys: readonly string[] | (() => readonly KnownKey[]) | null;
  /** Allowed origins of web pages, in lower case; asked for at every request, like keys. */
  origins: () => readonly string[];
  /** Reports a refused request, never with its contents. */
  refused(refusal: RefusedRequest): void;
  /** Logs an admitted request to the end of its response. */
  follow?: RequestLog['follow'] | undefined;
};

/** Context of an admitted request. `caller`: the owner of its key; empty if keys are off. */
export type Admitted = { Variables: { caller: string } };

/** `host`: the origin of a page, or the requested host. */
export type RefusedRequest = {
  status: number;
  reason: string;
  method: string;
  path: string;
  host: string;
};

/** `wait`: of 429, in seconds. */
export type Refusal = { status: 400 | 401 | 403 | 411 | 413 | 415 | 429; reason: string; wait?: number };

export const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '::1'];

/** Checks a request before its body is read. `say` formats a refusal for the API. */
export function createAccessControl(
  { port, hosts = () => LOOPBACK, keys, origins, refused, follow = unfollowed }: AccessControlOptions,
  say: (context: Context, refusal: Refusal) => Response,
) {
  const isOurs = (host: string) => {
    const asked = host.toLowerCase();
    return hosts()
      .map((name) => `${isIPv6(name) ? `[${name}]` : name}:${port}`.toLowerCase())
      .some((name) => name === asked || (name.startsWith('*.') && name.slice(1) === asked.slice(asked.indexOf('.'))));
  };
  const isAllowed = (origin: string) => origins().includes(origin.toLowerCase());
  const given = Array.isArray(keys) ? keys.map((key: string) => ({ id: '', name: '', digest: digestOf(key) })) : null;
  const known = typeof keys === 'function' ? keys : given && (() => given);
  const guesses = createRateLimit();
  const app = new Hono<Admitted>();

  const keyOf = ({ req }: Context): KnownKey | null =>
    known && matching(known(), req.header('x-api-key') ?? bearer(req.header('authorization')));

  function judge(context: Context, key: KnownKey | null): Refusal | null {
    const { host = '', origin, ...headers } = context.req.header();
    if (!isOurs(host)) return { status: 400, reason: 'Requests to this host name are not allowed.' };
    if (origin !== undefined && !isAllowed(origin)) {
      return { status: 403, reason: 'Web pages from this origin are not allowed.' };
    }
    if (context.req.method === 'OPTIONS') return null;
    if (known === null && isStranger(peerOf(context), port)) {
      return { status: 403, reason: 'This server belongs to another user.' };
    }
    if (known && !key) {
      return guesses.wrong()
        ? { status: 429, reason: 'Too many wrong keys. Wait a minute, then try again.', wait: 60 }
        : {
            status: 401,
            reason: 'The key is missing or wrong. Send it as "Authorization: Bearer KEY" or "x-api-key: KEY".',
          };
    }
    if (context.req.method !== 'POST') return null;
    if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
      return { status: 415, reason: 'The body must be JSON (Content-Type: application/json).' };
    }
    const bytes = headers['content-length'];
    if (bytes !== undefined && Number(bytes) > maxBodyBytes) return tooLarge;
    return null;
  }

  app.use(async (context, next) => {
    const key = keyOf(context);
    const refusal = judge(context, key);
    const { method } = context.req;
    const path = context.req.path.slice(0, 100);
    if (refusal) {
      const host = (context.req.header('origin') ?? context.req.header('host') ?? '').slice(0, 200);
      refused({ ...refusal, method, path, host });
      context.res = say(context, refusal);
    } else if (method === 'OPTIONS') await next();
    else {
      context.set('caller', key ? Buffer.from(key.digest).toString('hex') : '');
      await follow({ method, path, key }, async () => {
        await next();
        return context.res.status;
      });
    }
    const origin = context.req.header('origin');
    if (origin !== undefined && isAllowed(origin)) {
      context.res.headers.set('Access-Control-Allow-Origin', origin);
      context.res.headers.set('Access-Control-Expose-Headers', 'Retry-After');
      context.res.headers.set('Vary', 'Origin');
    }
    context.res.headers.set('X-Content-Type-Options', 'nosniff');
    context.res.headers.set('Cache-Control', 'no-store');
  });
  app.options('*', (context) => {
    const wanted = context.req.header('access-control-request-headers') ?? '';
    return context.body(null, 204, {
      'Access-Control-Allow-Methods': 'GET, POST, DELETE',
      // Clients send headers of their own (x-stainless-os, anthropic-version). Whoever may ask at all may send any.
      'Access-Control-Allow-Headers': /^[\w, -]{1,4000}$/.test(wanted) ? wanted : USUAL_HEADERS,
      'Access-Control-Max-Age': '600',
    });
  });
  return app;
}

export const tooLarge: Refusal = {
  status: 413,
  reason: `The body is larger than ${maxBodyBytes / 1024 / 1024} MB.`,
};

const USUAL_HEADERS = 'authorization, content-type, x-api-key';

const bearer = (header: string | undefined): string | undefined =>
  /^Bearer (.{1,512})$/i.exec(header ?? '')?.[1]?.trim();

const unfollowed: RequestLog['follow'] = async (_, handle) => {
  await handle();
};

/** Compares every key in constant time. */
function matching(known: readonly KnownKey[], given: string | undefined): KnownKey | null {
  if (given === undefined) return null;
  const digest = digestOf(given);
  return known.filter((key) => timingSafeEqual(key.digest, digest))[0] ?? null;
}
