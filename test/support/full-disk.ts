import { afterAll, beforeAll, vi } from 'vitest';
import { type Core, createCore } from '../../app/core/core.ts';
import type { StartEngine } from '../../app/engine/ipc-protocol.ts';
import { places, realReader } from './core.ts';

/** What nobody caught, from the first test of a file to its last. What is logged meanwhile is not printed: hundreds of cores say it. */
export function collectUncaught(): unknown[] {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  beforeAll(() => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
  });
  afterAll(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  });
  return uncaught;
}

/** A core that loads nothing by itself, over an engine that answers from a script. */
export const startScripted = (dataFolder: string, startEngine: StartEngine): Promise<Core> =>
  createCore({
    dataFolder,
    migrations: places.migrations,
    resources: places.resources,
    pictureWorker: places.pictureWorker,
    startReader: realReader(),
    startEngine,
    preload: false,
    about: { version: '0', commit: '', shell: 'browser' },
  });
