import type { CoreOptions } from '../../app/core/core.ts';
import type { StartParser } from '../../app/documents/parse/fork-parser.ts';
import type { Ending } from '../../app/process/supervisor.ts';
import type { ChatId, DownloadNotification, Failure, Notice } from '../../app/protocol/index.ts';

//  What Electron's main process and the core process say to each other. Ports travel beside a message.

/** Given to the core process when it starts, as its last argument. */
export type CoreArguments = Pick<
  CoreOptions,
  'dataFolder' | 'migrations' | 'resources' | 'pictureWorker' | 'sandbox' | 'about'
> & {
  /** The operating system keeps a key for us. */
  keychain: boolean;
};

/** A process that the core asks for: it belongs to Electron's main process. */
export type ChildWish = { run: 'engine' } | { run: 'parser'; limits: Parameters<StartParser>[0] };

/** What the desktop shows of the core outside its windows. */
export type DesktopNews = {
  /** The chats that were used last, the newest first. */
  recent: { id: ChatId; title: string }[];
  /** How far downloads and documents are that come in now, between 0 and 1. */
  progress: number | null;
  inTray: boolean;
  quickKeys: string | null;
  selectionKeys: string | null;
};

export type ToCore =
  /** A window wants to talk; its port comes along. */
  | { window: true }
  /** A process of the core runs; the port to it comes along. */
  | { child: number }
  | { childEnded: number; ending: Ending }
  | { notice: Notice }
  /** Answer of the keychain; null when it refused. */
  | { keychain: number; text: string | null }
  | { quit: true };

export type FromCore =
  | { ready: true }
  | { failed: Failure }
  | { busy: boolean }
  | { download: DownloadNotification }
  | { news: DesktopNews }
  /** The process with this number is wanted; numbers are never used twice. */
  | { startChild: number; wish: ChildWish }
  | { killChild: number }
  | { keychain: number; work: 'seal' | 'open'; text: string };
