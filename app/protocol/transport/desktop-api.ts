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
/** `GET` with the secret: 204 while it is valid. */
export const pagePath = '/page';
/** `POST` with the key of the data folder: `{ticket}`, for a URL to open. */
export const ticketPath = '/ticket';
/** The WebSocket subprotocol; the secret is offered as a second one, since a page cannot set headers there. */
export const subprotocol = 'longhand';
export const Upload = z.object({ path: z.string(), name: z.string(), bytes: z.number().int() });
export type Upload = z.infer<typeof Upload>;

/** Commands of the native menu; the same names as in the command palette. */
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

/** Shortcuts of commands that are also in the menu: handled by the page and shown by the menu. */
export const menuKeys: Record<MenuCommand, string> = {
  'new-chat': 'Mod+N',
  print: 'Mod+P',
  settings: 'Mod+,',
  search: 'Mod+Shift+F',
  palette: 'Mod+K',
  'toggle-sidebar': 'Mod+\\',
  shortcuts: 'Mod+/',
};

/** The purpose of a native file dialog. */
export const Choosing = z.enum([
  'model-file',
  'model-folder',
  'vision-file',
  'attachments',
  'documents',
  'document-folder',
]);
export type Choosing = z.infer<typeof Choosing>;

export type PreloadApi = {
  platform: string;
  send(frame: ClientFrame): void;
  /** `opened` comes for the first connection and again after the core was restarted. */
  listen(listener: { opened(): void; message(frame: CoreFrame): void; closed(): void }): void;
  /** The path of a dropped or chosen DOM `File`. */
  pathOf(file: object): string;
  choose(what: Choosing): Promise<string[]>;
  /** A screenshot of a window or screen chosen by the user, as a file; empty if cancelled. */
  screenshot(): Promise<string[]>;
  /** Opens http(s) and mailto links in the user's browser, after the page has asked. */
  openExternal(address: string): Promise<void>;
  /** Opens a copy in the system's viewer. False for types that are never opened. */
  openCopy(name: string, bytes: Uint8Array): Promise<boolean>;
  reveal(path: string): Promise<void>;
  /** Model files opened with the app since the last call. */
  takeOpened(): Promise<string[]>;
  /** Text selected in another program that this window was opened to ask about. */
  takeAsked(): Promise<string | null>;
  /** Model files or a text have arrived. */
  onOpened(listener: () => void): void;
  /** Whether a global shortcut is available. */
  keysAreFree(keys: string): Promise<boolean>;
  /** A view is requested, by its URL fragment. */
  onView(listener: (view: string) => void): void;
  onMenu(listener: (command: MenuCommand) => void): void;
};
