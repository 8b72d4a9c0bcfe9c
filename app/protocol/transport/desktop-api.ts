import { z } from 'zod';
import type { ClientFrame, CoreFrame } from './frames.ts';

//  How a renderer reaches the core.
//
//  Electron: `window.longhand` below, put there by the preload script.
//  Browser: a WebSocket at `socketPath` of the page's own origin carries the same frames as JSON texts, and the body of
//  `POST uploadPath?name=...` is stored as a file; the answer is an `Upload`, whose `path` goes into `attachments.add`.
//  Files of one model come with the same `set` (a UUID) and keep their names below one folder.

export const socketPath = '/socket';
export const uploadPath = '/uploads';
/** `POST` with a ticket (`Authorization: Bearer`): answered with the secret of this page, `{secret}`. */
export const enterPath = '/enter';
/** `GET` with the secret: 204 while it is right. */
export const pagePath = '/page';
/** `POST` with the key of the data folder: `{ticket}`, for an address that is opened. */
export const ticketPath = '/ticket';
/** The subprotocol of the socket; the secret is offered as a second one, since a page cannot set headers there. */
export const subprotocol = 'longhand';
export const Upload = z.object({ path: z.string(), name: z.string(), bytes: z.number().int() });
export type Upload = z.infer<typeof Upload>;

/** What the native menu asks of the page; the same names as the commands of the palette. */
export const MenuCommand = z.enum([
  'new-chat',
  'print',
  'settings',
  'search',
  'palette',
  'toggle-sidebar',
  'shortcuts',
]);
export type MenuCommand = z.infer<typeof MenuCommand>;

/** Keys of the commands that are in the menu too. The page listens for them and the menu shows them, so both read this. */
export const menuKeys: Record<MenuCommand, string> = {
  'new-chat': 'Mod+N',
  print: 'Mod+P',
  settings: 'Mod+,',
  search: 'Mod+Shift+F',
  palette: 'Mod+K',
  'toggle-sidebar': 'Mod+\\',
  shortcuts: 'Mod+/',
};

/** What a native dialog is opened for. */
export const Choosing = z.enum(['model-file', 'model-folder', 'attachments', 'documents', 'document-folder']);
export type Choosing = z.infer<typeof Choosing>;

export type PreloadApi = {
  platform: string;
  send(frame: ClientFrame): void;
  /** `opened` comes for the first connection and again after the core was restarted. */
  listen(listener: { opened(): void; message(frame: CoreFrame): void; closed(): void }): void;
  /** Where a dropped or chosen DOM `File` is on disk. */
  pathOf(file: object): string;
  choose(what: Choosing): Promise<string[]>;
  /** A picture of a window or screen that the user chooses, as a file; none where nothing was chosen. */
  screenshot(): Promise<string[]>;
  /** Opens http(s) and mailto addresses in the user's browser, after the page has asked. */
  openExternal(address: string): Promise<void>;
  /** Opens a copy in the system's viewer. False for kinds of files that are not opened. */
  openCopy(name: string, bytes: Uint8Array): Promise<boolean>;
  reveal(path: string): Promise<void>;
  /** Model files that the desktop opened with the app since it was last asked. */
  takeOpened(): Promise<string[]>;
  /** A text that this window was opened to ask about: what was selected in another program. */
  takeAsked(): Promise<string | null>;
  /** There are model files, or there is a text. */
  onOpened(listener: () => void): void;
  /** Whether keys can be had that work in every program. */
  keysAreFree(keys: string): Promise<boolean>;
  /** A view of the page is asked for, by the part of its address behind "#". */
  onView(listener: (view: string) => void): void;
  onMenu(listener: (command: MenuCommand) => void): void;
};
