import { join } from 'node:path';
import { app, BrowserWindow, type BrowserWindowConstructorOptions, dialog, nativeTheme, screen } from 'electron';
import { pageAddress } from '../app-protocol.ts';
import { words } from '../strings.ts';
import { besides, readWindowState, writeWindowState } from './window-state.ts';

const saveAfterMs = 500;
/** A page that crashes more often than this within a minute is not reloaded automatically again. */
const reloads = 3;
const crashWindowMs = 60_000;

export type Page = { preload: string; devServer?: string | undefined };

/** A window with our page, not shown yet. `view`: the part of its address behind "#". */
export function createPageWindow(page: Page, view: string, look: BrowserWindowConstructorOptions): BrowserWindow {
  const window = new BrowserWindow({
    ...look,
    show: false,
    title: 'Longhand',
    // The background of tokens.css, so that nothing flashes before the page is drawn.
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#16171a' : '#fbfbfa',
    autoHideMenuBar: true,
    webPreferences: {
      preload: page.preload,
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
  reloadAfterCrash(window);
  void window.loadURL(`${page.devServer ?? pageAddress}${view}`);
  return window;
}

export type Placing = {
  view: string;
  /** The window it is opened from: the new one is offset, so that both can be grabbed. */
  beside: BrowserWindow | null;
  /** Whether closing the window would end the app and the user must be asked first. */
  holds: () => boolean;
};

export function createWindow(page: Page, { view, beside, holds }: Placing): BrowserWindow {
  const file = join(app.getPath('userData'), 'window.json');
  const displays = screen.getAllDisplays();
  const state = beside ? null : readWindowState(file, displays);
  const window = createPageWindow(page, view, {
    width: 1280,
    height: 840,
    ...(beside ? besides(beside.getNormalBounds(), displays) : state?.bounds),
    minWidth: 480,
    minHeight: 480,
    titleBarStyle: process.platform === 'darwin' ? 'hiddenInset' : 'default',
    trafficLightPosition: { x: 16, y: 15 },
  });
  // Maximizing shows a window, so it waits for the page too.
  window.once('ready-to-show', () => {
    if (state?.maximized) window.maximize();
    window.show();
    if (state?.fullScreen) window.setFullScreen(true);
  });
  // The window stays open behind the dialog.
  window.on('close', (event) => {
    if (!holds()) return;
    event.preventDefault();
    app.quit();
  });
  keepState(window, file);
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
    // Not inside the crash event: some Electron versions crash if the page is reloaded immediately.
    if (crashes.length <= reloads) setImmediate(() => reload(window));
    else void askAfterCrashes(window);
  });
}

function reload(window: BrowserWindow) {
  if (!window.isDestroyed()) window.webContents.reload();
}

/** The window is blank now, so a dialog offers what to do. */
async function askAfterCrashes(window: BrowserWindow) {
  const { title, about, reload: again, quit } = words.crashed;
  // A window whose page crashed before its first paint was never shown.
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
