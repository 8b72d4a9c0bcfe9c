import { type Core, createCore } from '../../../app/core/core.ts';
import type { StartEngine } from '../../../app/engine/ipc-protocol.ts';
import { places, realParser } from './core.ts';

/** A core that loads nothing by itself, with an engine that answers from a script. */
export const startScripted = (dataFolder: string, startEngine: StartEngine): Promise<Core> =>
  createCore({
    dataFolder,
    migrations: places.migrations,
    resources: places.resources,
    pictureWorker: places.pictureWorker,
    startParser: realParser(),
    startEngine,
    preload: false,
    about: { version: '0', commit: '', shell: 'browser' },
  });
