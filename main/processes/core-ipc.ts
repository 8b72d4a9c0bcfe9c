import type { CoreOptions } from '../../app/core/core.ts';
import type { StartParser } from '../../app/documents/parse/fork-parser.ts';
import type { Ending } from '../../app/process/supervisor.ts';
import type { ChatId, DownloadNotification, Failure, Notice } from '../../app/protocol/index.ts';

//  Messages between Electron's main process and the core process. Ports travel beside a message.

/** Given to the core process when it starts, as its last argument. */
export type CoreArguments = Pick<
  CoreOptions,
  'dataFolder' | 'migrations' | 'resources' | 'pictureWorker' | 'sandbox' | 'about'
> & {
  /** The operating system stores a key for us. */
  keychain: boolean;
};

/** A child process requested by the core; it belongs to Electron's main process. */
export type ChildWish =
  | { run: 'engine' }
  | { run: 'converter' }
  | { run: 'parser'; limits: Parameters<StartParser>[0] };

/** State of the core that the desktop shows outside the windows. */
export type DesktopNews = {
  /** The most recently used chats, newest first. */
  recent: { id: ChatId; title: string }[];
  /** Progress of current downloads and imports, from 0 to 1. */
  progress: number | null;
  /** A smaller version of a model is being made, which quitting would end. */
  making: boolean;
  inTray: boolean;
  quickKeys: string | null;
  selectionKeys: string | null;
};

export type ToCore =
  /** A window connects; its port comes along. */
  | { window: true }
  /** A child process was started; the port to it comes along. */
  | { child: number }
  | { childEnded: number; ending: Ending }
  | { notice: Notice }
  /** Response of the keychain; null if it refused. */
  | { keychain: number; text: string | null }
  | { quit: true };

export type FromCore =
  | { ready: true }
  | { failed: Failure }
  | { busy: boolean }
  | { download: DownloadNotification }
  | { news: DesktopNews }
  /** Requests a child process under this number; numbers are never reused. */
  | { startChild: number; wish: ChildWish }
  | { killChild: number }
  | { keychain: number; work: 'seal' | 'open'; text: string };
