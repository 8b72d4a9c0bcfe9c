import { BrowserWindow } from 'electron';
import { createWindow, type Page } from './window.ts';

export type Windows = {
  /** Another one, with this view of the page: the part of its address behind "#". */
  open(view?: string): void;
  /** Brings the one that was used last to the front; opens one where there is none. */
  show(view?: string): void;
  /** Says something to the page that is used now. */
  tell(channel: string, ...values: unknown[]): void;
  front(): BrowserWindow | null;
  isLookedAt(): boolean;
  /** Beside their buttons in the taskbar or on the icon in the Dock; null takes it away. */
  progress(share: number | null): void;
};

/** All windows look at one core, so each shows what was done in the others. `holds`: closing the last one would end the app, and
 *  the person is to be asked first. */
export function createWindows(page: Page, { holds, onLast }: { holds: () => boolean; onLast: () => void }): Windows {
  /** The one that was used last comes first. */
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
