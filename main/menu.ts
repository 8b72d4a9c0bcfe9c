import { type BrowserWindow, Menu, type MenuItemConstructorOptions } from 'electron';
import { type MenuCommand, menuKeys } from '../app/protocol/index.ts';
import { words } from './strings.ts';

/** The menu bar. What belongs to the page is sent to it as a command; the rest are the system's own roles. */
export function setMenu(platform: NodeJS.Platform, send: (command: MenuCommand) => void) {
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(platform, send)));
}

export function menuTemplate(
  platform: NodeJS.Platform,
  send: (command: MenuCommand) => void,
): MenuItemConstructorOptions[] {
  const mac = platform === 'darwin';
  const command = (name: MenuCommand): MenuItemConstructorOptions => ({
    label: words.menu[name],
    accelerator: menuKeys[name].replace('Mod', 'CmdOrCtrl'),
    // The page listens for these keys and knows where the focus is; the menu only shows them. A Mac cannot be told so: there
    // the page is asked first, and a key that it handles does not reach the menu.
    registerAccelerator: false,
    click: () => send(name),
  });
  const settings = command('settings');
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
      label: words.menu.file,
      submenu: [
        command('new-chat'),
        { type: 'separator' },
        ...(mac ? [] : [settings, { type: 'separator' as const }]),
        mac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu', label: words.menu.edit },
    {
      label: words.menu.view,
      submenu: [
        command('search'),
        command('palette'),
        command('toggle-sidebar'),
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu', label: words.menu.window },
    { role: 'help', label: words.menu.help, submenu: [command('shortcuts')] },
  ];
}

export const sendToWindow =
  (window: () => BrowserWindow | null) =>
  (command: MenuCommand): void =>
    window()?.webContents.send('menu', command);
