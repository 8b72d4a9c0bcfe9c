import { create } from 'zustand';
import type { ClientFrame, CoreFrame, PreloadApi } from '../app/protocol/index.ts';
import {
  type Choosing,
  createClient,
  enterPath,
  Failure,
  LonghandError,
  type MenuCommand,
  type Pipe,
  pagePath,
  socketPath,
  subprotocol,
  Upload,
  uploadPath,
} from '../app/protocol/index.ts';

//  The only file that knows how the core is reached: the preload API in Electron, a WebSocket and uploads in a browser.

declare global {
  interface Window {
    longhand?: PreloadApi;
  }
}

/** Called when the core was updated under this tab: from now on only a page of its own build can talk to it. */
export const core = createClient({ onOutdated: () => useConnection.setState({ status: 'outdated' }) });

/** `locked`: this page was never let in. `outdated`: it has to be loaded again. `epoch` counts connections: after a new one everything that is shown is asked for
 *  again. */
type Connection = { status: 'connecting' | 'open' | 'lost' | 'gone' | 'locked' | 'outdated'; epoch: number };
export const useConnection = create<Connection>()(() => ({
  status: 'connecting',
  epoch: 0,
}));

type CorePipe = Pipe<ClientFrame, CoreFrame>;

/** Hands a pipe to the client; also how the tests put a core beside the page. */
export function attach(pipe: CorePipe): void {
  current = pipe;
  core.attach(pipe);
  useConnection.setState((state) => ({ status: 'open', epoch: state.epoch + 1 }));
  // A late close of an old pipe says nothing about its successor.
  pipe.onClose(() => current === pipe && !isOutdated() && useConnection.setState({ status: 'lost' }));
}

let current: CorePipe | null = null;

const isOutdated = () => useConnection.getState().status === 'outdated';

const preload = () => window.longhand;

export const isElectron = () => preload() !== undefined;
export const isMac = () =>
  (preload()?.platform ?? navigator.platform).toLowerCase().startsWith('mac') || preload()?.platform === 'darwin';

export function connect(): void {
  const api = preload();
  if (api) listenToPreload(api);
  else connectByNetwork();
}

function listenToPreload(api: PreloadApi): void {
  let receive: (frame: CoreFrame) => void = () => {};
  let closed: () => void = () => {};
  api.listen({
    opened: () =>
      attach({
        send: api.send,
        onMessage: (listener) => {
          receive = listener;
        },
        onClose: (listener) => {
          const before = closed;
          closed = () => {
            before();
            listener();
          };
        },
        close: () => {
          closed = () => {};
        },
      }),
    message: (frame) => receive(frame),
    closed: () => {
      const tell = closed;
      closed = () => {};
      tell();
    },
  });
}

const WAITS = [250, 500, 1000, 2000, 4000];
const SECRET = 'secret';

/** The credential of this page. Kept in session storage, since a cookie would be sent to every port of this computer. */
const secret = () => sessionStorage.getItem(SECRET) ?? '';
const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });

/** Logs in with the one-time ticket from the address, which is removed from the address before it is used. */
async function enter(): Promise<void> {
  const ticket = /^#once=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (ticket === undefined) return;
  history.replaceState(null, '', window.location.pathname);
  const answer = await fetch(enterPath, { method: 'POST', headers: bearer(ticket) }).catch(() => null);
  // Already used: by this tab, which has its secret, or by another.
  if (!answer?.ok) return;
  const given = (await answer.json()) as { secret: string };
  sessionStorage.setItem(SECRET, given.secret);
}

let attempts = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

function connectByNetwork(): void {
  void enter().then(() => openSocket(0));
  // Opening a newer address in this tab changes only the fragment and loads nothing.
  window.addEventListener('hashchange', () => {
    if (window.location.hash.startsWith('#once=')) void enter().then(() => openSocket(0));
  });
}

/** Whether the running server accepts this page; null if none answers. */
const isKnown = (): Promise<boolean | null> =>
  fetch(pagePath, { headers: bearer(secret()), cache: 'no-store' }).then(
    (answer) => answer.ok,
    () => null,
  );

function openSocket(attempt: number): void {
  clearTimeout(waiting);
  const current = ++attempts;
  const address = new URL(socketPath, window.location.href.replace(/^http/, 'ws'));
  const socket = new WebSocket(address, secret() === '' ? subprotocol : [subprotocol, secret()]);
  let opened = false;
  socket.onopen = () => {
    if (current !== attempts) return socket.close();
    opened = true;
    attach({
      send: (frame) => socket.send(JSON.stringify(frame)),
      onMessage: (listener) => {
        socket.addEventListener('message', (event) => listener(JSON.parse(String(event.data)) as CoreFrame));
      },
      onClose: (listener) => socket.addEventListener('close', listener),
      close: () => socket.close(),
    });
  };
  socket.onclose = () => void again();

  async function again() {
    if (current !== attempts || isOutdated()) return;
    if (!opened && (await isKnown()) === false) {
      if (current !== attempts) return;
      // The server was restarted, or the page never had a valid address: only a new address helps.
      useConnection.setState(({ epoch }) => ({ status: epoch === 0 ? 'locked' : 'gone' }));
      return;
    }
    // After some seconds, the server may have been restarted at another address.
    useConnection.setState({ status: !opened && attempt >= WAITS.length - 1 ? 'gone' : 'lost' });
    const next = opened ? 0 : attempt + 1;
    waiting = setTimeout(() => openSocket(next), WAITS[Math.min(next, WAITS.length - 1)]);
  }
}

/** Opens the system's file dialog. Null if there is none: then paths are typed, and files come through an input. */
export function choose(what: Choosing): Promise<string[]> | null {
  return preload()?.choose(what) ?? null;
}

/** A picture of a window or screen that the user chooses. Null in a browser, which has its own dialog. */
export function takeScreenshot(): Promise<string[]> | null {
  return preload()?.screenshot() ?? null;
}

/** The path of a file or folder that the user gave us; null in a browser, which hides it. */
export const pathOf = (file: File): string | null => preload()?.pathOf(file) || null;

/** Makes a file from the user available to the core, as a path. */
export async function placeFile(file: File): Promise<{ path: string; name: string }> {
  const path = pathOf(file);
  return path === null ? upload(file, { name: file.name }) : { path, name: file.name };
}

/** Makes files that belong together available to the core in one folder, each under its own path. Returns the folder. */
export async function placeFolder(files: readonly { path: string; file: File }[]): Promise<string> {
  const set = crypto.randomUUID();
  let folder = '';
  for (const { path, file } of files) {
    const placed = await upload(file, { name: path, set });
    folder = placed.path.slice(0, -path.length - 1);
  }
  return folder;
}

async function upload(file: File, place: Record<string, string>): Promise<Upload> {
  const address = `${uploadPath}?${new URLSearchParams(place)}`;
  let answer: Response;
  try {
    answer = await fetch(address, { method: 'POST', headers: bearer(secret()), body: file });
  } catch (cause) {
    // The file is locked or gone, or the server has stopped: the browser does not say which.
    throw new LonghandError('unreadable', `[upload] ${file.name} could not be sent`, { cause });
  }
  const said: unknown = await answer.json().catch(() => null);
  if (answer.ok) return Upload.parse(said);
  const { data: failure } = Failure.safeParse((said as { failure?: unknown } | null)?.failure);
  if (!failure) throw new LonghandError('core-lost', `[upload] ${file.name}: ${answer.status}`);
  throw new LonghandError(failure.code, failure.message, failure.details ? { details: failure.details } : {});
}

export function openExternal(address: string): void {
  const api = preload();
  if (api) void api.openExternal(address);
  else window.open(address, '_blank', 'noopener,noreferrer');
}

/** Shows a file in the file manager; null in a browser. */
export const reveal = (): ((path: string) => void) | null => {
  const api = preload();
  return api ? (path) => void api.reveal(path) : null;
};

/** Opens a copy of a file in the system's viewer; null in a browser. */
export const openCopy = (): PreloadApi['openCopy'] | null => preload()?.openCopy ?? null;

/** Paths of model files that the desktop opened with the app since this was last asked; never any in a browser. */
export const takeOpened = async (): Promise<string[]> => (await preload()?.takeOpened()) ?? [];
export const onOpened = (listener: () => void): void => preload()?.onOpened(listener);

/** A text that this window was opened to ask about; null in a browser. */
export const takeAsked = async (): Promise<string | null> => (await preload()?.takeAsked()) ?? null;
/** Whether this global shortcut is free; always false in a browser. */
export const keysAreFree = async (keys: string): Promise<boolean> =>
  (await preload()
    ?.keysAreFree(keys)
    .catch(() => false)) ?? false;
/** Listens for views requested by the desktop, given as the part of the address after "#". */
export const onView = (listener: (view: string) => void): void => preload()?.onView(listener);

export const onMenu = (listener: (command: MenuCommand) => void): void => preload()?.onMenu(listener);
