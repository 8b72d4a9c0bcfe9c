import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { protocol } from 'electron';
import { fileBelow, pageHeaders, typeOf } from '../app/server/static-files.ts';

const scheme = 'longhand';
export const pageOrigin = `${scheme}://app`;
export const pageAddress = `${pageOrigin}/`;

/** Call before the app is ready. Registers a scheme of our own, secure like https, without the rights of file:. */
export function registerScheme() {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

export function servePage(folder: string) {
  protocol.handle(scheme, (request) => answer(folder, request));
}

export async function answer(folder: string, request: { url: string; method: string }): Promise<Response> {
  const { host, pathname } = new URL(request.url);
  if (host !== 'app' || request.method !== 'GET') return new Response(null, { status: 403 });
  const path = fileBelow(folder, pathname) ?? join(folder, 'index.html');
  const bytes = await readFile(path);
  return new Response(new Uint8Array(bytes), { headers: { ...pageHeaders(), 'Content-Type': typeOf(path) } });
}
