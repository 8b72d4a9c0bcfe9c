import { type BrowserWindow, clipboard, type Display, globalShortcut, screen } from 'electron';
import { createPageWindow, type Page } from './window.ts';

const WIDTH = 640;
const HEIGHT = 520;
/** A longer selection would leave the model no room for its answer. */
const MAX_SELECTION = 20_000;

export type QuickKeys = { quickKeys: string | null; selectionKeys: string | null };

export type QuickQuestion = {
  ask(): void;
  /** Registers global shortcuts, replacing the previous ones. */
  listen(keys: QuickKeys): void;
  /** Whether no program has registered them, including us. */
  isFree(keys: string): boolean;
  /** The text that a window was opened to ask about; returned only once. */
  takeAsked(window: BrowserWindow | null): string | null;
};

/** A small window in front of everything with an empty chat, opened by a shortcut or from the tray. The shortcut also closes it. */
export function createQuickQuestion(page: Page): QuickQuestion {
  let window: BrowserWindow | null = null;
  let about: string | null = null;

  function open(text: string | null) {
    about = text;
    if (window) {
      window.webContents.send('opened');
      return window.focus();
    }
    const opened = createPageWindow(page, '#/chat', { ...place(), minWidth: 480, minHeight: 360 });
    opened.setAlwaysOnTop(true, 'floating');
    opened.once('ready-to-show', () => opened.show());
    opened.on('closed', () => {
      window = null;
    });
    window = opened;
  }

  function ask() {
    if (window?.isFocused()) window.close();
    else open(null);
  }

  return {
    ask,
    listen({ quickKeys, selectionKeys }) {
      globalShortcut.unregisterAll();
      register(quickKeys, ask);
      register(selectionKeys, () => void selectedText().then(open));
    },
    isFree(keys) {
      if (!register(keys, () => {})) return false;
      globalShortcut.unregister(acceleratorOf(keys));
      return true;
    },
    takeAsked(asking) {
      if (asking !== window || asking === null) return null;
      const taken = about;
      about = null;
      return taken;
    },
  };
}

function register(keys: string | null, pressed: () => void): boolean {
  if (keys === null) return false;
  const accelerator = acceleratorOf(keys);
  if (globalShortcut.isRegistered(accelerator)) return false;
  try {
    return globalShortcut.register(accelerator, pressed);
  } catch (error) {
    // Electron does not know this key.
    console.warn(`[keys] ${accelerator}: ${(error as Error).message}`);
    return false;
  }
}

const NAMES: Record<string, string> = {
  Mod: 'CommandOrControl',
  Ctrl: 'Control',
  Meta: 'Super',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
  Enter: 'Return',
  ' ': 'Space',
  '+': 'Plus',
};

/** Our notation of keys ("Mod+Shift+K") as an Electron accelerator. */
export function acceleratorOf(keys: string): string {
  const parts = keys.endsWith('++') ? [...keys.slice(0, -2).split('+'), '+'] : keys.split('+');
  return parts.map((name) => NAMES[name] ?? name).join('+');
}

/** The text selected in another program, where the system provides it: the primary selection of X11 and Wayland. */
async function selectedText(): Promise<string | null> {
  const text = (await clipboard.selection?.readText()) ?? '';
  return text.trim() === '' ? null : text.slice(0, MAX_SELECTION);
}

/** In the upper middle of the display with the pointer. */
function place() {
  const { workArea } = displayWithPointer();
  const width = Math.min(WIDTH, workArea.width);
  const height = Math.min(HEIGHT, workArea.height);
  const x = workArea.x + Math.round((workArea.width - width) / 2);
  const y = workArea.y + Math.round((workArea.height - height) / 4);
  return { x, y, width, height };
}

/** Wayland does not report the pointer position: Electron throws while no window is open, and later returns (0, 0). */
function displayWithPointer(): Display {
  try {
    return screen.getDisplayNearestPoint(screen.getCursorScreenPoint());
  } catch {
    return screen.getPrimaryDisplay();
  }
}
