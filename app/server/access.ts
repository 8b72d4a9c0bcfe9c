import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

//  Who may talk to the browser host. Any page of the web can send requests to 127.0.0.1, so three things are asked:
//    Host    is ours by name (a foreign name that resolves to 127.0.0.1 is not: DNS rebinding),
//    Origin  is ours where a browser names one,
//    cookie  was given to somebody who knew the token that was printed in the terminal. Other users of the machine do not.

export type Access = {
  token: string;
  cookie: { name: string; value: string };
  hostAllowed(host: string | undefined): boolean;
  /** A request without Origin is a navigation or no browser at all; a socket always has to name one. */
  originAllowed(origin: string | undefined, options?: { required: boolean }): boolean;
  tokenRight(token: string | undefined): boolean;
  /** Takes the whole Cookie header. */
  cookieRight(header: string | undefined): boolean;
};

export function createAccess(token: string, port: number): Access {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const origins = hosts.map((host) => `http://${host}`);
  const cookie = { name: `longhand-${port}`, value: digest(`cookie ${token}`).toString('base64url') };
  return {
    token,
    cookie,
    hostAllowed: (host) => host !== undefined && hosts.includes(host.toLowerCase()),
    originAllowed: (origin, options) =>
      origin === undefined ? !options?.required : origins.includes(origin.toLowerCase()),
    tokenRight: (given) => given !== undefined && same(given, token),
    cookieRight: (header) => same(readCookie(header ?? '', cookie.name), cookie.value),
  };
}

/** The token of a data folder: the same after a restart, so that an open page can come back. Only its owner can read it. */
export function folderToken(folder: string): string {
  const path = join(folder, 'browser-token');
  if (existsSync(path)) {
    const kept = readFileSync(path, 'utf8').trim();
    if (/^[\w-]{43}$/.test(kept)) return kept;
  }
  const token = randomBytes(32).toString('base64url');
  writeFileSync(path, token, { mode: 0o600 });
  chmodSync(path, 0o600);
  return token;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** In a time that does not tell where two texts differ. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

function readCookie(header: string, name: string): string {
  for (const part of header.split(';')) {
    const [key, ...value] = part.trim().split('=');
    if (key === name) return value.join('=');
  }
  return '';
}
