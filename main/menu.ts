import { type BrowserWindow, Menu, type MenuItemConstructorOptions } from 'electron';
import type { MenuCommand } from '../app/protocol/index.ts';

/** The menu bar. What belongs to the page is sent to it as a command; the rest are the system's own roles. */
export function setMenu(platform: NodeJS.Platform, send: (command: MenuCommand) => void) {
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(platform, send)));
}

export function menuTemplate(
  platform: NodeJS.Platform,
  send: (command: MenuCommand) => void,
): MenuItemConstructorOptions[] {
  const mac = platform === 'darwin';
  const command = (label: string, name: MenuCommand, accelerator: string): MenuItemConstructorOptions => ({
    label,
    accelerator,
    // The page has these keys too and knows where the focus is; the menu shows them.
    registerAccelerator: false,
    click: () => send(name),
  });
  const settings = command('Settings…', 'settings', 'CmdOrCtrl+,');
  const appMenu: MenuItemConstructorOptions = {
    role: 'appMenu',
    submenu: [
      { role: 'about' },
      { type: 'separator' },
      settings,
      { type: 'separator' },
      { role: 'services' },
      { type: 'separator' },
      { role: 'hide' },
      { role: 'hideOthers' },
      { role: 'unhide' },
      { type: 'separator' },
      { role: 'quit' },
    ],
  };
  return [
    ...(mac ? [appMenu] : []),
    {
      label: 'File',
      submenu: [
        command('New Chat', 'new-chat', 'CmdOrCtrl+N'),
        { type: 'separator' },
        ...(mac ? [] : [settings, { type: 'separator' as const }]),
        mac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        command('Search Chats', 'search', 'CmdOrCtrl+Shift+F'),
        command('Commands', 'palette', 'CmdOrCtrl+K'),
        command('Show or Hide Sidebar', 'toggle-sidebar', 'CmdOrCtrl+B'),
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    { role: 'help', submenu: [command('Keyboard Shortcuts', 'shortcuts', 'CmdOrCtrl+/')] },
  ];
}

export const sendToWindow =
  (window: () => BrowserWindow | null) =>
  (command: MenuCommand): void =>
    window()?.webContents.send('menu', command);
