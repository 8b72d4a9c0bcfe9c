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
    label: 'Longhand',
    submenu: [
      system('about'),
      separator,
      settings,
      separator,
      system('services'),
      separator,
      system('hide'),
      system('hideOthers'),
      system('unhide'),
      separator,
      system('quit'),
    ],
  };
  return [
    ...(mac ? [appMenu] : []),
    {
      label: words.menu.file,
      submenu: [
        command('new-chat'),
        separator,
        ...(mac ? [] : [settings, separator]),
        mac ? system('close') : system('quit'),
      ],
    },
    { role: 'editMenu', label: words.menu.edit, submenu: editing(mac) },
    {
      label: words.menu.view,
      submenu: [
        command('search'),
        command('palette'),
        command('toggle-sidebar'),
        separator,
        system('resetZoom'),
        system('zoomIn'),
        system('zoomOut'),
        separator,
        system('togglefullscreen'),
      ],
    },
    {
      role: 'windowMenu',
      label: words.menu.window,
      submenu: [system('minimize'), ...(mac ? [system('zoom'), separator, system('front')] : [system('close')])],
    },
    { role: 'help', label: words.menu.help, submenu: [command('shortcuts')] },
  ];
}

const separator: MenuItemConstructorOptions = { type: 'separator' };

/** What the system does itself, called as the pages would call it: Electron's own names are English everywhere. */
const system = (role: keyof typeof words.menu.roles): MenuItemConstructorOptions => ({
  role,
  label: words.menu.roles[role],
});

function editing(mac: boolean): MenuItemConstructorOptions[] {
  const text = [system('cut'), system('copy'), system('paste')];
  const basics = [system('undo'), system('redo'), separator, ...text];
  if (!mac) return [...basics, system('delete'), separator, system('selectAll')];
  return [
    ...basics,
    system('pasteAndMatchStyle'),
    system('delete'),
    system('selectAll'),
    separator,
    {
      label: words.menu.substitutions,
      submenu: [
        system('showSubstitutions'),
        separator,
        system('toggleSmartQuotes'),
        system('toggleSmartDashes'),
        system('toggleTextReplacement'),
      ],
    },
    { label: words.menu.speech, submenu: [system('startSpeaking'), system('stopSpeaking')] },
  ];
}

export const sendToWindow =
  (window: () => BrowserWindow | null) =>
  (command: MenuCommand): void =>
    window()?.webContents.send('menu', command);
