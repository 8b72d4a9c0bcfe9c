import { app, dialog, powerMonitor } from 'electron';
import type { Failure } from '../app/protocol/index.ts';
import { sweep } from '../app/store/folder/temporary-folders.ts';
import { registerScheme, servePage } from './app-protocol.ts';
import { isModelFile, readArguments, shellFolder } from './arguments.ts';
import { sayThatItGoesOn } from './background.ts';
import { serveIpc } from './ipc.ts';
import { setMenus } from './menu.ts';
import { notify } from './notifications.ts';
import { removeCopies } from './open-copy.ts';
import { pathsOf } from './paths.ts';
import type { DesktopNews } from './processes/core-ipc.ts';
import { type CoreSupervisor, createCoreSupervisor } from './processes/core-supervisor.ts';
import { openKeychain } from './secret-storage.ts';
import { hostRules, lockDown } from './security.ts';
import { keepAwake } from './sleep-blocker.ts';
import { errors, words } from './strings.ts';
import { createTray } from './tray.ts';
import { createQuickQuestion } from './windows/quick-question.ts';
import { createWindows } from './windows/windows.ts';

//  The desktop shell: owns windows, permissions and the two processes, and decides nothing else.

const { dataFolder, modelFiles } = readArguments(process.argv, app.isPackaged);
const devServer = app.isPackaged ? undefined : process.env.ELECTRON_RENDERER_URL;
const paths = pathsOf({ root: app.getAppPath(), resources: process.resourcesPath, packaged: app.isPackaged });

let core: CoreSupervisor | null = null;
let quitting = false;
/** An answer is being written. */
let answering = false;
/** A smaller version of a model is being made. */
let making = false;
let asking = false;
/** The system shuts down, or the parent process ends the app: nobody can be asked. */
let unattended = false;
/** There is a tray icon to return by, so closing the window does not end the app. */
let inTray = false;
/** Model files that the desktop opened with the app, until the page takes them. */
let toOpen = modelFiles;

const page = { preload: paths.preload, devServer };
const staysOpen = () => process.platform === 'darwin' || inTray;
const windows = createWindows(page, { holds: () => !staysOpen() && asksBeforeQuit(), onLast: lastWindowClosed });
const question = createQuickQuestion(page);
const tray = createTray(paths.resources, { ask: question.ask, show: () => show(), quit: () => app.quit() });

app.setPath('userData', shellFolder(dataFolder));
// Chromium itself makes no network requests.
for (const name of [
  'disable-background-networking',
  'disable-component-update',
  'disable-domain-reliability',
  'no-pings',
]) {
  app.commandLine.appendSwitch(name);
}
app.commandLine.appendSwitch('host-resolver-rules', hostRules(devServer));
// On Wayland, only the desktop portal can provide global shortcuts.
const features = [app.commandLine.getSwitchValue('enable-features'), 'GlobalShortcutsPortal'];
if (process.platform === 'linux') app.commandLine.appendSwitch('enable-features', features.filter(Boolean).join(','));
app.enableSandbox();
registerScheme();

if (app.requestSingleInstanceLock()) {
  app.on('second-instance', (_, argv, cwd) => open(readArguments(argv, app.isPackaged, cwd).modelFiles));
  // macOS reports files this way, possibly before the app is ready.
  app.on('open-file', (event, path) => {
    event.preventDefault();
    if (isModelFile(path)) open([path]);
  });
  app.on('activate', () => show());
  // Without a listener Electron would end the app: lastWindowClosed decides.
  app.on('window-all-closed', () => {});
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
  const ipc = serveIpc({
    connect: (port) => core?.connect(port) ?? false,
    takeOpened,
    takeAsked: question.takeAsked,
    keysAreFree: question.isFree,
    devServer,
  });
  const menus = setMenus({
    platform: process.platform,
    send: (command) => windows.tell('menu', command),
    newWindow: () => windows.open('#/chat'),
    openChat: (chatId) => show(`#/chat/${chatId}`),
  });
  show();
  // The system may ask the user to unlock the keychain: the window is already open by then.
  const keychain = await openKeychain();
  const come = (progress: number | null) => {
    windows.progress(progress);
    awake('coming', progress !== null);
  };
  core = createCoreSupervisor({
    paths,
    keychain,
    core: {
      dataFolder,
      migrations: paths.migrations,
      pictureWorker: paths.pictureWorker,
      sandbox: paths.sandbox,
      resources: paths.resources,
      keychain: keychain !== null,
      about: { version: app.getVersion(), commit: process.env.LONGHAND_COMMIT ?? '', shell: 'electron' },
    },
    onReady: ipc.coreReady,
    onLost() {
      making = false;
      ipc.coreLost();
      come(null);
    },
    onBusy(writes) {
      answering = writes;
      awake('answer', writes);
    },
    onDownload: (news) => notify(news, { looking: windows.isLookedAt(), show }),
    onNews(news) {
      menus(news.recent);
      come(news.progress);
      listenOutside(news);
    },
    onFailed: fail,
  });
}

function show(view?: string) {
  if (app.isReady() && !quitting) windows.show(view);
}

function lastWindowClosed() {
  if (!staysOpen()) app.quit();
  else if (!quitting) sayThatItGoesOn();
}

/** Applies what is seen outside the windows, by choice or when quitting. */
function listenOutside(news: DesktopNews) {
  inTray = news.inTray;
  making = news.making;
  tray(inTray);
  question.listen(news);
}

function open(paths: string[]) {
  toOpen = [...toOpen, ...paths];
  show();
  if (paths.length > 0) windows.tell('opened');
}

function takeOpened(): string[] {
  const taken = toOpen;
  toOpen = [];
  return taken;
}

const asksBeforeQuit = (): boolean => (answering || making) && !unattended && !quitting;

function quitUnattended() {
  unattended = true;
  app.quit();
}

/** Saves answers and stops the engine before the app exits. While an answer is being written or a model
 *  is being made, asks the user, once. */
function quit(event: { preventDefault(): void }) {
  if (quitting || !core) return;
  event.preventDefault();
  if (asksBeforeQuit()) void ask();
  else end(core);
}

async function ask() {
  if (asking) return;
  asking = true;
  const { title, about, quit: yes, stay } = making ? words.quittingMaking : words.quitting;
  const asked = { message: title, detail: about, buttons: [yes, stay], defaultId: 0, cancelId: 1, noLink: true };
  const window = windows.front();
  const { response } = await (window ? dialog.showMessageBox(window, asked) : dialog.showMessageBox(asked));
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
