import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { app, type BrowserWindow, dialog } from 'electron';
import type { Failure } from '../app/protocol/index.ts';
import { defaultDataFolder } from '../app/store/data-dir.ts';
import { sweep } from '../app/store/temporary-folders.ts';
import { registerScheme, servePage } from './app-protocol.ts';
import { type CoreProcess, createCoreProcess } from './core-supervisor.ts';
import { serveIpc } from './ipc.ts';
import { sendToWindow, setMenu } from './menu.ts';
import { notify } from './notifications.ts';
import { removeCopies } from './open-copy.ts';
import { pathsOf } from './paths.ts';
import { openKeychain } from './secret-storage.ts';
import { lockDown } from './security.ts';
import { keepAwake } from './sleep-blocker.ts';
import { errors } from './strings.ts';
import { createWindow } from './window.ts';

//  The desktop shell: owns windows, permissions and the two processes, and decides nothing else.

const { values } = parseArgs({ strict: false, options: { data: { type: 'string' } } });
const dataFolder = typeof values.data === 'string' ? values.data : defaultDataFolder();
const devServer = app.isPackaged ? undefined : process.env.ELECTRON_RENDERER_URL;
const paths = pathsOf({ root: app.getAppPath(), resources: process.resourcesPath, packaged: app.isPackaged });

let window: BrowserWindow | null = null;
let core: CoreProcess | null = null;
let quitting = false;

app.setPath('userData', join(dataFolder, 'shell'));
// Chromium itself asks nothing of the network.
for (const name of [
  'disable-background-networking',
  'disable-component-update',
  'disable-domain-reliability',
  'no-pings',
]) {
  app.commandLine.appendSwitch(name);
}
app.enableSandbox();
registerScheme();

if (app.requestSingleInstanceLock()) {
  app.on('second-instance', show);
  app.on('activate', show);
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  app.on('before-quit', quit);
  app.whenReady().then(start, (error) => fail({ code: 'internal', message: String(error) }));
} else {
  app.quit();
}

function start() {
  sweep();
  lockDown((address) => core?.notice({ code: 'request-blocked', details: { address } }), devServer);
  servePage(paths.renderer);
  const awake = keepAwake();
  const ipc = serveIpc({ connect: (port) => core?.connect(port) ?? false, devServer });
  const keychain = openKeychain();
  core = createCoreProcess({
    paths,
    keychain,
    core: {
      dataFolder,
      migrations: paths.migrations,
      resources: paths.resources,
      keychain: keychain !== null,
      about: { version: app.getVersion(), commit: process.env.LONGHAND_COMMIT ?? '', shell: 'electron' },
    },
    onReady: ipc.coreReady,
    onLost: ipc.coreLost,
    onBusy: awake,
    onDownload: (news) => notify(news, { looking: window?.isFocused() ?? false, show }),
    onFailed: fail,
  });
  setMenu(
    process.platform,
    sendToWindow(() => window),
  );
  show();
}

function show() {
  if (!app.isReady() || quitting) return;
  if (window) {
    if (window.isMinimized()) window.restore();
    window.focus();
    return;
  }
  window = createWindow({ preload: paths.preload, devServer });
  window.on('closed', () => {
    window = null;
  });
}

/** Answers are put on disk and the engine ends before the app does. */
function quit(event: { preventDefault(): void }) {
  if (quitting || !core) return;
  quitting = true;
  event.preventDefault();
  void Promise.allSettled([core.close(), removeCopies()]).finally(() => app.exit(0));
}

function fail({ code, message }: Failure) {
  if (quitting) return;
  const { what, way } = errors[code];
  dialog.showErrorBox(what, `${way}\n\n${message}`);
  app.exit(1);
}
