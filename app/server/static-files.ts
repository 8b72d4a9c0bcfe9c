import { statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The content security policy: only our own files. `wasm-unsafe-eval` is for the parsers in
 *  WebAssembly; inline styles are set by KaTeX and syntax highlighting; `blob:` and `data:` are
 *  pictures made in the page. No inline scripts, no eval, no frames, no forms, and no other origins. */
export function contentPolicy(sockets: readonly string[] = []): string {
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    ["connect-src 'self'", ...sockets].join(' '),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Headers of every response, in the browser host and in Electron's own protocol. */
export const pageHeaders = (sockets: readonly string[] = []): Record<string, string> => ({
  'Content-Security-Policy': contentPolicy(sockets),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), payment=()',
});

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  woff: 'font/woff',
  ttf: 'font/ttf',
  wasm: 'application/wasm',
  txt: 'text/plain; charset=utf-8',
  map: 'application/json; charset=utf-8',
  webmanifest: 'application/manifest+json',
};

export const typeOf = (path: string): string =>
  types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';

/** The file for a URL path, if it is inside `folder`. */
export function fileBelow(folder: string, address: string): string | null {
  try {
    const path = join(folder, decodeURIComponent(address));
    return path.startsWith(folder + sep) && statSync(path).isFile() ? path : null;
  } catch {
    // Not a valid URL, or no such file.
    return null;
  }
}
