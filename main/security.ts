import { app, type Session, session, type WebContents } from 'electron';
import { pageOrigin } from './app-protocol.ts';

/** The only permission that a page may get: writing text to the clipboard. */
const allowed = new Set(['clipboard-sanitized-write']);

/** Blocks everything a page could use to reach out: permissions, devices, other pages, windows, and the network. Blocked
 *  requests are reported to `onBlocked`. `devServer`: the address of vite during development. */
export function lockDown(onBlocked: (address: string) => void, devServer?: string) {
  guardSession(session.defaultSession, onBlocked, devServer);
  app.on('session-created', (created) => guardSession(created, onBlocked, devServer));
  app.on('web-contents-created', (_, contents) => guardContents(contents, devServer));
}

/** Chromium resolves no host names, which also stops traffic that is not a request: a page can name a WebRTC relay, which
 *  neither its policy nor `onBeforeRequest` sees. */
export const hostRules = (devServer?: string): string =>
  ['MAP * ~NOTFOUND', ...(devServer ? [`EXCLUDE ${new URL(devServer).hostname}`] : [])].join(', ');

function guardSession(guarded: Session, onBlocked: (address: string) => void, devServer: string | undefined) {
  guarded.setPermissionRequestHandler((_, permission, answer) => answer(allowed.has(permission)));
  guarded.setPermissionCheckHandler((_, permission) => allowed.has(permission));
  guarded.setDevicePermissionHandler(() => false);
  guarded.webRequest.onBeforeRequest((details, answer) => {
    const own = isOwn(details.url, devServer);
    if (!own) onBlocked(details.url);
    answer({ cancel: !own });
  });
  // Other systems would download dictionaries.
  guarded.setSpellCheckerEnabled(process.platform === 'darwin');
}

/** The page itself, excluding URLs it created: the only allowed sender, and the only allowed navigation. */
export function isPage(address: string, devServer?: string): boolean {
  const url = URL.parse(address);
  if (!url) return false;
  const origin = `${url.protocol}//${url.host}`;
  if (origin === pageOrigin) return true;
  return devServer !== undefined && origin.replace(/^ws/, 'http') === new URL(devServer).origin;
}

/** What a page may load: its own files, URLs it created, or the developer tools. */
export const isOwn = (address: string, devServer?: string): boolean =>
  ['blob:', 'data:', 'devtools:'].includes(URL.parse(address)?.protocol ?? '') || isPage(address, devServer);

function guardContents(contents: WebContents, devServer: string | undefined) {
  const stay = (event: { preventDefault(): void; url: string }) => {
    if (!isPage(event.url, devServer)) event.preventDefault();
  };
  contents.on('will-navigate', stay);
  contents.on('will-frame-navigate', stay);
  contents.on('will-redirect', stay);
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
  contents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp');
}
