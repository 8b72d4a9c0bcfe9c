import { app, type BrowserWindow, dialog, powerMonitor } from 'electron';
import type { Failure } from '../app/protocol/index.ts';
import { sweep } from '../app/store/temporary-folders.ts';
import { registerScheme, servePage } from './app-protocol.ts';
import { isModelFile, readArguments, shellFolder } from './arguments.ts';
import { type CoreSupervisor, createCoreSupervisor } from './core-supervisor.ts';
import { serveIpc } from './ipc.ts';
import { sendToWindow, setMenu } from './menu.ts';
import { notify } from './notifications.ts';
import { removeCopies } from './open-copy.ts';
import { pathsOf } from './paths.ts';
import { openKeychain } from './secret-storage.ts';
import { hostRules, lockDown } from './security.ts';
import { keepAwake } from './sleep-blocker.ts';
import { errors, words } from './strings.ts';
import { createWindow } from './window.ts';

//  The desktop shell: owns windows, permissions and the two processes, and decides nothing else.

const { dataFolder, modelFiles } = readArguments(process.argv, app.isPackaged);
const devServer = app.isPackaged ? undefined : process.env.ELECTRON_RENDERER_URL;
const paths = pathsOf({ root: app.getAppPath(), resources: process.resourcesPath, packaged: app.isPackaged });

let window: BrowserWindow | null = null;
let core: CoreSupervisor | null = null;
let quitting = false;
/** An answer is being written. */
let answering = false;
let asking = false;
/** The system ends, or whoever started the app ends it: nobody is there to be asked. */
let unattended = false;
/** Model files that the desktop opened with the app, until the page takes them. */
let toOpen = modelFiles;

app.setPath('userData', shellFolder(dataFolder));
// Chromium itself asks nothing of the network.
for (const name of [
  'disable-background-networking',
  'disable-component-update',
  'disable-domain-reliability',
  'no-pings',
]) {
  app.commandLine.appendSwitch(name);
}
app.commandLine.appendSwitch('host-resolver-rules', hostRules(devServer));
app.enableSandbox();
registerScheme();

if (app.requestSingleInstanceLock()) {
  app.on('second-instance', (_, argv, cwd) => open(readArguments(argv, app.isPackaged, cwd).modelFiles));
  // A Mac says it so, and maybe before the app is ready.
  app.on('open-file', (event, path) => {
    event.preventDefault();
    if (isModelFile(path)) open([path]);
  });
  app.on('activate', show);
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  app.on('before-quit', quit);
  app
    .whenReady()
    .then(start)
    .catch((error) => fail({ code: 'internal', message: String(error) }));
} else {
  app.quit();
}

async function start() {
  sweep();
  lockDown((address) => core?.notice({ code: 'request-blocked', details: { address } }), devServer);
  servePage(paths.renderer);
  const awake = keepAwake();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, quitUnattended);
  powerMonitor.on('shutdown', quitUnattended);
  const ipc = serveIpc({ connect: (port) => core?.connect(port) ?? false, takeOpened, devServer });
  setMenu(
    process.platform,
    sendToWindow(() => window),
  );
  show();
  // The system may ask the user for the keychain: the window is there meanwhile.
  const keychain = await openKeychain();
  core = createCoreSupervisor({
    paths,
    keychain,
    core: {
      dataFolder,
      migrations: paths.migrations,
      sandbox: paths.sandbox,
      resources: paths.resources,
      keychain: keychain !== null,
      about: { version: app.getVersion(), commit: process.env.LONGHAND_COMMIT ?? '', shell: 'electron' },
    },
    onReady: ipc.coreReady,
    onLost: ipc.coreLost,
    onBusy(busy) {
      answering = busy;
      awake(busy);
    },
    onDownload: (news) => notify(news, { looking: isLookedAt(window), show }),
    onFailed: fail,
  });
}

function show() {
  if (!app.isReady() || quitting) return;
  if (window) {
    if (window.webContents.isCrashed()) window.webContents.reload();
    if (window.isMinimized()) window.restore();
    window.focus();
    return;
  }
  // On a Mac the app goes on without its window.
  const holds = () => process.platform !== 'darwin' && asksBeforeQuit();
  window = createWindow({ preload: paths.preload, devServer, holds });
  window.on('closed', () => {
    window = null;
  });
}

/** A minimised window can still have the focus. */
const isLookedAt = (one: BrowserWindow | null): boolean => one?.isFocused() === true && !one.isMinimized();

function open(paths: string[]) {
  toOpen = [...toOpen, ...paths];
  show();
  if (paths.length > 0) window?.webContents.send('opened');
}

function takeOpened(): string[] {
  const taken = toOpen;
  toOpen = [];
  return taken;
}

const asksBeforeQuit = (): boolean => answering && !unattended && !quitting;

function quitUnattended() {
  unattended = true;
  app.quit();
}

/** Answers are put on disk and the engine ends before the app does. In the middle of an answer the person is asked, once. */
function quit(event: { preventDefault(): void }) {
  if (quitting || !core) return;
  event.preventDefault();
  if (asksBeforeQuit()) void ask();
  else end(core);
}

async function ask() {
  if (asking) return;
  asking = true;
  const { title, about, quit: yes, stay } = words.quitting;
  const question = { message: title, detail: about, buttons: [yes, stay], defaultId: 0, cancelId: 1, noLink: true };
  const { response } = await (window ? dialog.showMessageBox(window, question) : dialog.showMessageBox(question));
  asking = false;
  if (response === 0 && core) end(core);
}

function end(running: CoreSupervisor) {
  if (quitting) return;
  quitting = true;
  void Promise.allSettled([running.close(), removeCopies()]).finally(() => app.exit(0));
}

function fail({ code, message, details }: Failure) {
  if (quitting) return;
  const { what, way } = errors[code];
  const lastWords = details?.lastWords;
  dialog.showErrorBox(what, [way, message, ...(typeof lastWords === 'string' ? [lastWords] : [])].join('\n\n'));
  app.exit(1);
}
