import { join } from 'node:path';
import { app, BrowserWindow, nativeTheme, screen } from 'electron';
import { pageAddress } from './page.ts';
import { readWindowState, writeWindowState } from './window-state.ts';

const saveAfterMs = 500;
/** A page that keeps crashing is not loaded for ever. */
const reloads = 3;

export function createWindow(options: { preload: string; devServer?: string | undefined }): BrowserWindow {
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
  if (state?.maximized) window.maximize();
  window.once('ready-to-show', () => window.show());
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
      writeWindowState(file, { bounds: window.getNormalBounds(), maximized: window.isMaximized() });
    }
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(save, saveAfterMs);
  };
  window.on('resize', later);
  window.on('move', later);
  window.on('close', save);
}

function reloadAfterCrash(window: BrowserWindow) {
  let left = reloads;
  window.webContents.on('render-process-gone', (_, { reason }) => {
    if (reason !== 'clean-exit' && left-- > 0 && !window.isDestroyed()) window.webContents.reload();
  });
}
