import { BrowserWindow } from 'electron';
import { createWindow, type Page } from './window.ts';

export type Windows = {
  /** Opens another window with this view of the page: the part of its address after "#". */
  open(view?: string): void;
  /** Brings the most recently used window to the front; opens one if there is none. */
  show(view?: string): void;
  /** Sends a message to the page in use. */
  tell(channel: string, ...values: unknown[]): void;
  front(): BrowserWindow | null;
  isLookedAt(): boolean;
  /** Shows progress on the taskbar button or the Dock icon; null removes it. */
  progress(share: number | null): void;
};

/** All windows share one core, so each shows changes made in the others. `holds`: closing the last one would end the app, and
 *  the user must be asked first. */
export function createWindows(page: Page, { holds, onLast }: { holds: () => boolean; onLast: () => void }): Windows {
  /** Most recently used first. */
  let windows: BrowserWindow[] = [];
  let share: number | null = null;
  const front = () => windows[0] ?? null;

  function open(view = '') {
    const window = createWindow(page, { view, beside: front(), holds: () => windows.length === 1 && holds() });
    windows = [window, ...windows];
    window.on('focus', () => {
      windows = [window, ...windows.filter((one) => one !== window)];
    });
    window.on('closed', () => {
      windows = windows.filter((one) => one !== window);
      if (windows.length === 0) onLast();
    });
    if (share !== null) window.setProgressBar(share);
  }

  return {
    open,
    show(view) {
      const window = front();
      if (!window) return open(view);
      if (window.webContents.isCrashed()) window.webContents.reload();
      if (view !== undefined) window.webContents.send('view', view);
      if (window.isMinimized()) window.restore();
      window.focus();
    },
    tell: (channel, ...values) => (BrowserWindow.getFocusedWindow() ?? front())?.webContents.send(channel, ...values),
    front,
    // A minimised window can still have the focus.
    isLookedAt: () => windows.some((window) => window.isFocused() && !window.isMinimized()),
    progress(given) {
      share = given;
      for (const window of windows) window.setProgressBar(given ?? -1);
    },
  };
}
