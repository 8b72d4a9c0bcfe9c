import { type MessagePortMain, utilityProcess } from 'electron';
import { createSupervisor, type Ending, listenToErrors, type Supervised } from '../../app/process/supervisor.ts';
import type { DownloadNotification, Failure, Notice } from '../../app/protocol/index.ts';
import type { Paths } from '../paths.ts';
import type { Keychain } from '../secret-storage.ts';
import { createChildren, endAtOnce } from './child-processes.ts';
import type { CoreArguments, DesktopNews, FromCore, ToCore } from './core-ipc.ts';

export type CoreSupervisor = {
  /** Passes a window's port to the running core. False if there is none. */
  connect(port: MessagePortMain): boolean;
  notice(notice: Notice): void;
  close(): Promise<void>;
};

export type CoreProcessOptions = {
  paths: Paths;
  core: CoreArguments;
  keychain: Keychain | null;
  /** A core is ready: windows (re)connect. */
  onReady: () => void;
  onLost: () => void;
  onBusy: (busy: boolean) => void;
  onDownload: (news: DownloadNotification) => void;
  onNews: (news: DesktopNews) => void;
  /** The core cannot run: shows the user a sentence, then the app exits. */
  onFailed: (failure: Failure) => void;
};

/** Supervises the core process and the child processes it requests. */
export function createCoreSupervisor({
  paths,
  core,
  keychain,
  onReady,
  onLost,
  onBusy,
  onDownload,
  onNews,
  onFailed,
}: CoreProcessOptions): CoreSupervisor {
  let child: Electron.UtilityProcess | null = null;
  let ready = false;
  const post = (message: ToCore, ports: MessagePortMain[] = []) => child?.postMessage(message, ports);
  const children = createChildren(paths, (number, ending) => post({ childEnded: number, ending }));

  const supervisor = createSupervisor<ToCore, FromCore>({
    start: async () => startCore(),
    name: 'core',
    quit: { quit: true },
    quitWaitMs: 4000,
    onMessage: receive,
    onStatus(status) {
      // Not "core-lost", which promises a reconnection.
      if (status.phase === 'stopped') onFailed({ ...status.failure, code: 'internal' });
    },
    onLost() {
      child = null;
      ready = false;
      children.killAll();
      onBusy(false);
      onLost();
    },
  });

  function startCore(): Supervised<ToCore, FromCore> {
    const started = utilityProcess.fork(paths.core, [JSON.stringify(core)], {
      serviceName: 'Longhand core',
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    child = started;
    const lastWords = listenToErrors(started.stderr);
    const ended = new Promise<Ending>((resolve) =>
      started.once('exit', (code) => resolve({ how: `code ${code}`, lastWords: lastWords() })),
    );
    return {
      ended,
      kill: () => endAtOnce(started),
      pipe: {
        send: (message) => started.postMessage(message),
        onMessage: (listener) => void started.on('message', listener),
        onClose: (listener) => void ended.then(listener),
        close: () => void started.kill(),
      },
    };
  }

  function receive(message: FromCore) {
    if ('ready' in message) {
      ready = true;
      onReady();
    } else if ('failed' in message) onFailed(message.failed);
    else if ('busy' in message) onBusy(message.busy);
    else if ('download' in message) onDownload(message.download);
    else if ('news' in message) onNews(message.news);
    else if ('startChild' in message) {
      post({ child: message.startChild }, [children.start(message.startChild, message.wish)]);
    } else if ('keychain' in message) {
      void askKeychain(message).then((text) => post({ keychain: message.keychain, text }));
    } else children.kill(message.killChild);
  }

  async function askKeychain({ work, text }: { work: 'seal' | 'open'; text: string }): Promise<string | null> {
    try {
      return (await keychain?.[work](text)) ?? null;
    } catch {
      // Locked, or encrypted by another user: the user has to enter the secret again.
      return null;
    }
  }

  supervisor.start();
  return {
    connect(port) {
      if (ready) post({ window: true }, [port]);
      return ready;
    },
    notice: (notice) => void (ready && post({ notice })),
    close: supervisor.close,
  };
}
