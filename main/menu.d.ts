import { type BrowserWindow, type MenuItemConstructorOptions } from 'electron';
import type { MenuCommand } from '../app/protocol/index.ts';
/** The menu bar. What belongs to the page is sent to it as a command; the rest are the system's own roles. */
export declare function setMenu(platform: NodeJS.Platform, send: (command: MenuCommand) => void): void;
export declare function menuTemplate(
  platform: NodeJS.Platform,
  send: (command: MenuCommand) => void,
): MenuItemConstructorOptions[];
export declare const sendToWindow: (window: () => BrowserWindow | null) => (command: MenuCommand) => void;
