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

/** The menu bar, and the menu of the Dock icon. Items of the page are sent to it as commands; the rest are the system's own
 *  roles. The returned function sets the recent chats, which stay private: the system's list of recent documents is not
 *  used. */
export function setMenus(actions: MenuActions): (recent: Recent) => void {
  let shown = '';
  const set = (recent: Recent) => {
    const text = JSON.stringify(recent);
    // Replacing an open menu would close it.
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

/** Recent chats by title. An ampersand, which would mark an access key, is escaped. */
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

/** A system role with a label from our strings: Electron's own labels are always English. */
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

/** Plus often shares a key with equals, and keyboards have a second plus on the numeric keypad. */
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
