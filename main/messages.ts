import type { Ending } from '../app/engine/supervisor.ts';
import type { HostOptions } from '../app/host.ts';
import type { DownloadNews, Failure, Notice } from '../app/protocol/index.ts';

//  What Electron's main process and the core process say to each other. Ports travel beside a message.

/** Given to the core process when it starts, as its last argument. */
export type CoreOptions = Pick<HostOptions, 'dataFolder' | 'migrations' | 'resources' | 'documentWorker' | 'about'> & {
  /** The operating system keeps a key for us. */
  keychain: boolean;
};

export type ToCore =
  /** A window wants to talk; its port comes along. */
  | { window: true }
  /** The engine runs; the port to it comes along. */
  | { engine: number }
  | { engineEnded: number; ending: Ending }
  | { notice: Notice }
  /** Answer of the keychain; null when it refused. */
  | { keychain: number; text: string | null }
  | { quit: true };

export type FromCore =
  | { ready: true }
  | { failed: Failure }
  | { busy: boolean }
  | { download: DownloadNews }
  /** The engine with this number is wanted; numbers are never used twice. */
  | { startEngine: number }
  | { killEngine: number }
  | { keychain: number; work: 'seal' | 'open'; text: string };
