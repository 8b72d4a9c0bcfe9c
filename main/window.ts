import { join } from 'node:path';
import { app, BrowserWindow, dialog, nativeTheme, screen } from 'electron';
import { pageAddress } from './app-protocol.ts';
import { words } from './strings.ts';
import { readWindowState, writeWindowState } from './window-state.ts';

const saveAfterMs = 500;
/** A page that crashes more often than this within a minute is not reloaded again by itself. */
const reloads = 3;
const crashWindowMs = 60_000;

export function createWindow(options: {
  preload: string;
  devServer?: string | undefined;
  /** Closing the window would end the app, and the person is to be asked first. */
  holds: () => boolean;
}): BrowserWindow {
  const file = join(app.getPath('userData'), 'window.json');
  const state = readWindowState(file, screen.getAllDisplays());
  const window = new BrowserWindow({
    width: 1280,
    height: 840,
    ...state?.bounds,
    minWidth: 480,
    minHeight: 480,
    show: false,
    title: 'Longhand',
    // The paper of tokens.css, so that nothing flashes before the page is there.
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#16171a' : '#fbfbfa',
    titleBarStyle: process.platform === 'darwin' ? 'hiddenInset' : 'default',
    trafficLightPosition: { x: 16, y: 15 },
    autoHideMenuBar: true,
    webPreferences: {
      preload: options.preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
      navigateOnDragDrop: false,
      safeDialogs: true,
      devTools: !app.isPackaged,
    },
  });
  // Maximizing shows a window, so it waits for the page too.
  window.once('ready-to-show', () => {
    if (state?.maximized) window.maximize();
    window.show();
    if (state?.fullScreen) window.setFullScreen(true);
  });
  // The window stays behind the question.
  window.on('close', (event) => {
    if (!options.holds()) return;
    event.preventDefault();
    app.quit();
  });
  keepState(window, file);
  reloadAfterCrash(window);
  void window.loadURL(options.devServer ?? pageAddress);
  return window;
}

function keepState(window: BrowserWindow, file: string) {
  let timer: NodeJS.Timeout | undefined;
  const save = () => {
    clearTimeout(timer);
    if (!window.isDestroyed()) {
      const bounds = window.getNormalBounds();
      const state = { bounds, maximized: window.isMaximized(), fullScreen: window.isFullScreen() };
      writeWindowState(file, state, screen.getAllDisplays());
    }
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(save, saveAfterMs);
  };
  window.on('resize', later);
  window.on('move', later);
  window.on('close', save);
  // The app exits without closing its windows.
  app.on('before-quit', save);
  window.once('closed', () => {
    clearTimeout(timer);
    app.off('before-quit', save);
  });
}

function reloadAfterCrash(window: BrowserWindow) {
  let crashes: number[] = [];
  window.webContents.on('render-process-gone', (_, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return;
    const now = Date.now();
    crashes = [...crashes.filter((at) => now - at < crashWindowMs), now];
    // Not while Electron is still telling of the crash: some versions end with the page that is loaded again at once.
    if (crashes.length <= reloads) setImmediate(() => reload(window));
    else void askAfterCrashes(window);
  });
}

function reload(window: BrowserWindow) {
  if (!window.isDestroyed()) window.webContents.reload();
}

/** The window is blank now, so the way out is offered outside it. */
async function askAfterCrashes(window: BrowserWindow) {
  const { title, about, reload: again, quit } = words.crashed;
  // One that crashed before it was ever drawn has not been shown.
  if (!window.isVisible()) window.show();
  const { response } = await dialog.showMessageBox(window, {
    type: 'error',
    message: title,
    detail: about,
    buttons: [again, quit],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
  });
  if (response === 1) app.quit();
  else reload(window);
}
