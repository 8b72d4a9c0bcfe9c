import { type MessagePortMain } from 'electron';
import type { Failure, Notice } from '../app/protocol/index.ts';
import type { CoreOptions } from './messages.ts';
import type { Paths } from './paths.ts';
export type CoreProcess = {
  /** Gives a window's port to the core that runs now. False while there is none. */
  connect(port: MessagePortMain): boolean;
  notice(notice: Notice): void;
  close(): Promise<void>;
};
export type CoreProcessOptions = {
  paths: Paths;
  core: CoreOptions;
  /** A core is there: windows connect (again). */
  onReady: () => void;
  onLost: () => void;
  onBusy: (busy: boolean) => void;
  /** It cannot run: a sentence for the user, then the app ends. */
  onFailed: (failure: Failure) => void;
};
/** Keeps the core process alive, and the engine process that the core asks for. */
export declare function createCoreProcess({
  paths,
  core,
  onReady,
  onLost,
  onBusy,
  onFailed,
}: CoreProcessOptions): CoreProcess;
