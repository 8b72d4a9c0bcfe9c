import { app, Menu, type MenuItemConstructorOptions } from 'electron';
import { type ChatId, type MenuCommand, menuKeys } from '../app/protocol/index.ts';
import type { DesktopNews } from './processes/core-ipc.ts';
import { words } from './strings.ts';

type Recent = DesktopNews['recent'];

export type MenuActions = {
  platform: NodeJS.Platform;
  send: (command: MenuCommand) => void;
  newWindow: () => void;
  openChat: (chatId: ChatId) => void;
};

/** The menu bar, and the menu of the icon in the Dock. What belongs to the page is sent to it as a command; the rest are the
 *  system's own roles. The function that is returned sets the recent chats, which no other program hears of: the system's own
 *  list of recent documents is not used. */
export function setMenus(actions: MenuActions): (recent: Recent) => void {
  let shown = '';
  const set = (recent: Recent) => {
    const text = JSON.stringify(recent);
    // An open menu closes when another takes its place.
    if (text === shown) return;
    shown = text;
    Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(actions, recent)));
  };
  set([]);
  app.dock?.setMenu(Menu.buildFromTemplate([newWindowItem(actions)]));
  return set;
}

const newWindowItem = ({ newWindow }: MenuActions): MenuItemConstructorOptions => ({
  label: words.menu['new-window'],
  accelerator: 'CmdOrCtrl+Shift+N',
  click: newWindow,
});

/** By their titles. What a menu would read as the key of an entry is text here. */
const recentItems = ({ openChat, platform }: MenuActions, recent: Recent): MenuItemConstructorOptions[] =>
  recent.map(({ id, title }) => ({
    label: platform === 'darwin' ? shortened(title) : shortened(title).replaceAll('&', '&&'),
    click: () => openChat(id),
  }));

const shortened = (title: string): string => {
  const letters = [...title.replace(/\s+/g, ' ')];
  return letters.length <= 60 ? letters.join('') : `${letters.slice(0, 59).join('')}…`;
};

export function menuTemplate(actions: MenuActions, recent: Recent): MenuItemConstructorOptions[] {
  const { platform, send } = actions;
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
        newWindowItem(actions),
        { label: words.menu.recent, enabled: recent.length > 0, submenu: recentItems(actions, recent) },
        separator,
        command('print'),
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
        ...MORE_ZOOM,
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

/** The sign for plus is often above that for equals, and keyboards have a second one beside the digits. */
const MORE_ZOOM: MenuItemConstructorOptions[] = (
  [
    ['zoomIn', '='],
    ['zoomIn', 'numadd'],
    ['zoomOut', 'numsub'],
  ] as const
).map(([role, key]) => ({
  role,
  label: words.menu.roles[role],
  accelerator: `CmdOrCtrl+${key}`,
  visible: false,
  acceleratorWorksWhenHidden: true,
}));
