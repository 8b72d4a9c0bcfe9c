import { existsSync } from 'node:fs';
import {
  BrowserWindow,
  dialog,
  type IpcMainEvent,
  type IpcMainInvokeEvent,
  ipcMain,
  MessageChannelMain,
  type MessagePortMain,
  type OpenDialogOptions,
  shell,
} from 'electron';
import { z } from 'zod';
import { Choosing, GlobalKeys } from '../app/protocol/index.ts';
import { openCopy } from './open-copy.ts';
import { takeScreenshot } from './screenshot.ts';
import { isPage } from './security.ts';
import { words } from './strings.ts';

const Address = z.url({ protocol: /^(https?|mailto)$/ }).max(4096);
const Path = z.string().min(1).max(4096);
const Copy = z.object({ name: z.string().min(1).max(255), bytes: z.instanceof(Uint8Array) });

/** The few requests that a page makes to the shell itself. Everything else goes over its port to the core. Only the main
 *  frame of our own page may ask. */
export function serveIpc(options: {
  connect: (port: MessagePortMain) => boolean;
  takeOpened: () => string[];
  takeAsked: (window: BrowserWindow | null) => string | null;
  keysAreFree: (keys: string) => boolean;
  devServer?: string | undefined;
}) {
  const wanting = new Set<Electron.WebContents>();

  function connect(contents: Electron.WebContents) {
    const { port1, port2 } = new MessageChannelMain();
    if (options.connect(port2)) tell(() => contents.postMessage('port', null, [port1]));
  }

  function heard(event: IpcMainEvent | IpcMainInvokeEvent): boolean {
    const { senderFrame, sender } = event;
    return senderFrame !== null && senderFrame === sender.mainFrame && isPage(senderFrame.url, options.devServer);
  }

  ipcMain.on('connect', (event) => {
    if (!heard(event)) return;
    const contents = event.sender;
    if (!wanting.has(contents)) contents.once('destroyed', () => wanting.delete(contents));
    wanting.add(contents);
    connect(contents);
  });

  const handle = <Input>(
    channel: string,
    input: z.ZodType<Input>,
    work: (input: Input, event: IpcMainInvokeEvent) => unknown,
  ) =>
    ipcMain.handle(channel, (event, given: unknown) => {
      if (!heard(event))
        throw new Error(`[ipc] "${channel}" was asked by ${event.senderFrame?.url ?? 'a frame that is gone'}`);
      return work(input.parse(given), event);
    });

  handle('choose', Choosing, async (what, event) => {
    const window = BrowserWindow.fromWebContents(event.sender);
    // macOS shows the message, other systems the title.
    const options = { ...dialogs[what], title: words.choose[what], message: words.choose[what] };
    const { filePaths } = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options));
    return filePaths;
  });
  handle('screenshot', z.undefined(), (_, event) => takeScreenshot(BrowserWindow.fromWebContents(event.sender)));
  handle('open-external', Address, (address, event) => openLink(address, BrowserWindow.fromWebContents(event.sender)));
  handle('open-copy', Copy, ({ name, bytes }) => openCopy(name, bytes));
  handle('take-opened', z.undefined(), options.takeOpened);
  handle('take-asked', z.undefined(), (_, event) => options.takeAsked(BrowserWindow.fromWebContents(event.sender)));
  handle('keys-are-free', GlobalKeys, options.keysAreFree);
  handle('reveal', Path, (path) => {
    if (existsSync(path)) shell.showItemInFolder(path);
  });

  return {
    /** The core is ready: gives every window a port to it. */
    coreReady() {
      for (const contents of wanting) connect(contents);
    },
    coreLost() {
      for (const contents of wanting) tell(() => contents.send('lost'));
    },
  };
}

/** Electron throws if the page has just crashed or closed. A reloaded page asks for a port itself. */
function tell(page: () => void) {
  try {
    page();
  } catch (error) {
    console.warn(`[ipc] a page could not be told: ${(error as Error).message}`);
  }
}

/** Another program opens the link, so the user is asked here, whatever the page asked before: the page may display a
 *  different address. */
async function openLink(address: string, window: BrowserWindow | null): Promise<void> {
  const question = {
    message: words.link.title,
    detail: address,
    buttons: [words.link.open, words.link.cancel],
    defaultId: 1,
    cancelId: 1,
  };
  const { response } = await (window ? dialog.showMessageBox(window, question) : dialog.showMessageBox(question));
  if (response === 0) await shell.openExternal(address);
}

const dialogs: Record<Choosing, OpenDialogOptions> = {
  'model-file': { properties: ['openFile'], filters: [{ name: words.modelFiles, extensions: ['gguf'] }] },
  'model-folder': { properties: ['openDirectory'] },
  'vision-file': { properties: ['openFile'], filters: [{ name: words.modelFiles, extensions: ['gguf'] }] },
  attachments: { properties: ['openFile', 'multiSelections'] },
  documents: { properties: ['openFile', 'multiSelections'] },
  'document-folder': { properties: ['openDirectory'] },
};
