import { EventEmitter } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { type Mock, vi } from 'vitest';

//  As much of Electron as main/ uses, with a record of what was done to it. Ports and frames are real: a page talks to the
//  core through them as it would in Electron. Usage: vi.mock('electron', () => import('./electron.ts')).

export const done = {
  switches: new Map<string, string>(),
  schemes: [] as { scheme: string; privileges?: object }[],
  sandboxed: false,
  exits: [] as number[],
  dialogs: [] as [string, string][],
  /** The texts of message boxes, and the options of open dialogs. */
  asked: [] as string[],
  details: [] as string[],
  choosing: [] as object[],
  opened: [] as string[],
  awake: [] as ('start' | 'stop')[],
  menu: [] as unknown[],
  /** The labels of context menus. */
  popped: [] as string[][],
  /** The screen sources that were requested, and their size. */
  looked: [] as { types: string[]; thumbnailSize: { width: number; height: number } }[],
  /** The tray icons that exist now, with their menus. */
  trays: [] as Tray[],
  /** Global shortcuts, with their actions. */
  keys: new Map<string, () => void>(),
  progress: [] as number[],
  notified: [] as string[],
  notifications: [] as Notification[],
  protocols: new Map<string, (request: { url: string; method: string }) => Promise<Response>>(),
  exposed: new Map<string, unknown>(),
};

/** What a test can set. */
export const world = {
  userData: '/nowhere',
  appPath: '/nowhere',
  firstInstance: true,
  displays: [{ workArea: { x: 0, y: 0, width: 1600, height: 1000 } }],
  /** Null, as on Wayland, which does not reveal it. */
  pointer: { x: 5, y: 5 } as { x: number; y: number } | null,
  chosen: [] as string[],
  /** The button that is pressed in every message box. */
  pressed: 0,
  /** Whether pages get as far as their first frame. */
  draws: true,
  /** The text selected in another program. */
  selected: '',
  /** Shortcuts that another program holds. */
  takenKeys: [] as string[],
  /** The windows on the desktop, by id and name. */
  sources: [] as [id: string, name: string][],
  /** The label that is chosen in a context menu. */
  picked: null as string | null,
  /** The permission that macOS gives for the screen. */
  screenAccess: 'granted',
  /** Whether the first window has the focus. */
  looking: false,
  fork: (_file: string, _args: string[]): FakeUtilityProcess => {
    throw new Error('no process expected');
  },
};

export class FakeUtilityProcess extends EventEmitter {
  pid: number | undefined;
  readonly stderr = null;
  /** Messages from the parent. */
  readonly inbox = new EventEmitter();
  postMessage(data: unknown, ports: FakePort[] = []) {
    queueMicrotask(() => this.inbox.emit('message', { data, ports }));
  }
  kill() {
    this.emit('exit', 0);
    return true;
  }
}
export const utilityProcess = { fork: (file: string, args: string[]) => world.fork(file, args) };

/** MessagePortMain over a real port. */
export class FakePort extends EventEmitter {
  readonly real: MessagePort;
  constructor(real: MessagePort) {
    super();
    this.real = real;
    real.on('close', () => this.emit('close'));
  }
  start() {
    this.real.on('message', (data) => this.emit('message', { data }));
  }
  postMessage(message: unknown) {
    this.real.postMessage(message);
  }
  close() {
    this.real.close();
  }
  /** The page's end of the same port. */
  get onmessage() {
    return null;
  }
  set onmessage(listener: ((event: { data: unknown }) => void) | null) {
    if (listener) this.real.on('message', (data) => listener({ data }));
  }
}
export class MessageChannelMain {
  readonly port1: FakePort;
  readonly port2: FakePort;
  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port1 = new FakePort(port1);
    this.port2 = new FakePort(port2);
  }
}

class FakeApp extends EventEmitter {
  isPackaged = false;
  ready = false;
  commandLine = {
    appendSwitch: (name: string, value = '') => done.switches.set(name, value),
    getSwitchValue: (name: string) => done.switches.get(name) ?? '',
  };
  enableSandbox() {
    done.sandboxed = true;
  }
  getAppPath = () => world.appPath;
  getPath = () => world.userData;
  setPath(_: string, path: string) {
    world.userData = path;
  }
  getVersion = () => '0.1.0';
  requestSingleInstanceLock = () => world.firstInstance;
  isReady = () => this.ready;
  async whenReady() {
    this.ready = true;
  }
  /** Closes it as the system's menu does. Returns whether the app prevented that. */
  quit() {
    let prevented = false;
    this.emit('before-quit', {
      preventDefault() {
        prevented = true;
      },
    });
    if (!prevented) this.exit(0);
    return prevented;
  }
  exit(code: number) {
    done.exits.push(code);
    this.emit('exited', code);
  }
}
export const app = new FakeApp();

class FakeSession extends EventEmitter {
  permission?: (contents: null, permission: string, answer: (allowed: boolean) => void) => void;
  check?: (contents: null, permission: string) => boolean;
  device?: () => boolean;
  request?: (details: { url: string }, answer: (verdict: { cancel: boolean }) => void) => void;
  setPermissionRequestHandler(handler: FakeSession['permission'] & {}) {
    this.permission = handler;
  }
  setPermissionCheckHandler(handler: FakeSession['check'] & {}) {
    this.check = handler;
  }
  setDevicePermissionHandler(handler: FakeSession['device'] & {}) {
    this.device = handler;
  }
  setSpellCheckerEnabled: Mock = vi.fn();
  webRequest = {
    onBeforeRequest: (handler: FakeSession['request'] & {}) => {
      this.request = handler;
    },
  };
}
export const session = { defaultSession: new FakeSession() };

export class FakeContents extends EventEmitter {
  windowOpen?: (details: { url: string }) => { action: string };
  readonly mainFrame = { url: 'longhand://app/' };
  /** The page's side of IPC. */
  readonly page = new EventEmitter();
  /** Electron throws when a message is sent to a page that is gone. */
  gone = false;
  crashed = false;
  isCrashed = () => this.crashed;
  reload: Mock = vi.fn();
  setWindowOpenHandler(handler: FakeContents['windowOpen'] & {}) {
    this.windowOpen = handler;
  }
  setWebRTCIPHandlingPolicy: Mock = vi.fn();
  send(channel: string, ...values: unknown[]) {
    if (this.gone) throw new Error('Render frame was disposed before WebFrameMain could be accessed');
    this.page.emit(channel, {}, ...values);
  }
  postMessage(channel: string, _: unknown, ports: FakePort[]) {
    if (this.gone) throw new Error('Render frame was disposed before WebFrameMain could be accessed');
    this.page.emit(channel, { ports });
  }
}

export class BrowserWindow extends EventEmitter {
  static readonly all: BrowserWindow[] = [];
  static getFocusedWindow = () => null;
  static fromWebContents = (contents: FakeContents) =>
    BrowserWindow.all.find((one) => one.webContents === contents) ?? null;
  readonly options: Record<string, unknown> & { webPreferences: Record<string, unknown> };
  readonly webContents = new FakeContents();
  shown = false;
  loaded = '';
  focus: Mock = vi.fn();
  restore: Mock = vi.fn();
  maximize: Mock = vi.fn(() => {
    this.visible = true;
  });
  minimized = false;
  visible = false;
  isMinimized = () => this.minimized;
  isVisible = () => this.visible;
  setAlwaysOnTop: Mock = vi.fn();
  setProgressBar = (share: number) => void done.progress.push(share);
  isMaximized = () => false;
  isFullScreen = () => false;
  setFullScreen: Mock = vi.fn();
  close() {
    BrowserWindow.all.splice(BrowserWindow.all.indexOf(this), 1);
    this.emit('closed');
  }
  isDestroyed = () => false;
  isFocused = () => world.looking;
  getNormalBounds = () => ({ x: 10, y: 20, width: 900, height: 700 });
  constructor(options: BrowserWindow['options']) {
    super();
    this.options = options;
    BrowserWindow.all.push(this);
    app.emit('web-contents-created', {}, this.webContents);
  }
  show() {
    this.shown = true;
    this.visible = true;
  }
  async loadURL(address: string) {
    this.loaded = address;
    if (world.draws) queueMicrotask(() => this.emit('ready-to-show'));
  }
}

/** The main process's side of IPC. */
class FakeIpcMain extends EventEmitter {
  readonly handlers = new Map<string, (event: object, input: unknown) => unknown>();
  handle(channel: string, handler: (event: object, input: unknown) => unknown) {
    this.handlers.set(channel, handler);
  }
}
export const ipcMain = new FakeIpcMain();

/** The page's side, as if its window were the first; `frame` is the sender. */
export const frame: { current: { url: string } | null } = { current: null };
const contents = () => BrowserWindow.all[0]?.webContents as FakeContents;
const event = () => ({ sender: contents(), senderFrame: frame.current ?? contents().mainFrame });
export const ipcRenderer = {
  on: (channel: string, listener: (...values: never[]) => void) => contents().page.on(channel, listener as () => void),
  send: (channel: string) => ipcMain.emit(channel, event()),
  invoke: async (channel: string, input: unknown) => ipcMain.handlers.get(channel)?.(event(), input),
};
export const contextBridge = {
  exposeInMainWorld: (name: string, api: unknown) => done.exposed.set(name, api),
};
export const webUtils = { getPathForFile: (file: { path: string }) => file.path };

export const protocol = {
  registerSchemesAsPrivileged: (schemes: typeof done.schemes) => done.schemes.push(...schemes),
  handle: (scheme: string, handler: (request: { url: string; method: string }) => Promise<Response>) =>
    done.protocols.set(scheme, handler),
};
export const dialog = {
  showErrorBox: (title: string, text: string) => done.dialogs.push([title, text]),
  showOpenDialog: async (...given: object[]) => {
    done.choosing.push(given.at(-1) as object);
    return { filePaths: world.chosen };
  },
  showMessageBox: async (...given: (BrowserWindow | { message: string; detail?: string })[]) => {
    const { message, detail } = given.at(-1) as { message: string; detail?: string };
    done.asked.push(message);
    done.details.push(detail ?? '');
    return { response: world.pressed };
  },
};
export const shell = {
  openExternal: async (address: string) => void done.opened.push(address),
  openPath: async (path: string) => {
    done.opened.push(path);
    return '';
  },
  showItemInFolder: (path: string) => void done.opened.push(path),
};
export const powerSaveBlocker = {
  start: () => done.awake.push('start'),
  stop: () => void done.awake.push('stop'),
};
type Item = { label?: string; click?: () => void };
const pops = {
  /** Closes before it reports the choice, as menus of some systems do. */
  value(this: Item[], { callback }: { callback: () => void }) {
    done.popped.push(this.map(({ label = '-' }) => label));
    callback();
    this.find(({ label }) => label === world.picked)?.click?.();
  },
};
export const Menu = {
  buildFromTemplate: (template: Item[]) => Object.defineProperty([...template], 'popup', pops),
  setApplicationMenu: (menu: unknown) => done.menu.push(menu),
};
export class Notification extends EventEmitter {
  readonly #body: string;
  constructor({ body }: { body: string }) {
    super();
    this.#body = body;
  }
  static isSupported = () => true;
  show() {
    done.notified.push(this.#body);
    done.notifications.push(this);
  }
}

export const powerMonitor = new EventEmitter();
export const nativeTheme = { shouldUseDarkColors: false };
export const screen = {
  getAllDisplays: () => world.displays,
  getCursorScreenPoint() {
    if (!world.pointer) throw new Error('screen.getCursorScreenPoint() is not available before a window exists');
    return world.pointer;
  },
  getPrimaryDisplay: () => world.displays[0],
  getDisplayNearestPoint: () => world.displays[0],
};
export const desktopCapturer = {
  getSources: async (options: (typeof done.looked)[number]) => {
    done.looked.push(options);
    const { width, height } = options.thumbnailSize;
    const thumbnail = { isEmpty: () => false, toPNG: () => Buffer.from(`${width}x${height}`) };
    return world.sources
      .filter(([id]) => options.types.includes(id.split(':')[0] ?? ''))
      .map(([id, name]) => ({ id, name, thumbnail }));
  },
};
export const systemPreferences = { getMediaAccessStatus: () => world.screenAccess };
export const clipboard = { selection: { readText: async () => world.selected } };
export const nativeImage = { createFromPath: (path: string) => ({ path, setTemplateImage() {} }) };
export class Tray extends EventEmitter {
  menu: { label?: string; click?: () => void }[] = [];
  readonly image: { path: string };
  constructor(image: { path: string }) {
    super();
    this.image = image;
    done.trays.push(this);
  }
  setToolTip: Mock = vi.fn();
  setContextMenu(menu: Tray['menu']) {
    this.menu = menu;
  }
  destroy() {
    done.trays.splice(done.trays.indexOf(this), 1);
  }
}
export const globalShortcut = {
  isRegistered: (keys: string) => done.keys.has(keys),
  register(keys: string, pressed: () => void) {
    if (/Sign$/.test(keys)) throw new TypeError('conversion failure');
    if (world.takenKeys.includes(keys)) return false;
    done.keys.set(keys, pressed);
    return true;
  },
  unregister: (keys: string) => void done.keys.delete(keys),
  unregisterAll: () => done.keys.clear(),
};

/** Encrypts by reversing, so that a test can tell sealed from open. */
export const safeStorage = {
  isAsyncEncryptionAvailable: async () => true,
  getSelectedStorageBackend: () => 'gnome_libsecret',
  encryptStringAsync: async (text: string) => Buffer.from([...text].reverse().join('')),
  decryptStringAsync: async (sealed: Buffer) => ({
    result: [...sealed.toString()].reverse().join(''),
    shouldReEncrypt: false,
  }),
};
