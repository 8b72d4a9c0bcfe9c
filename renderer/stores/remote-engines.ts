import { create } from 'zustand';
import type { ModelEntry, RemoteEngine } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type RemoteEngineStore = {
  /** Null until loaded. */
  engines: readonly RemoteEngine[] | null;
  load(): Promise<void>;
};

/** Remote engines, as reported by the core. */
export const useRemoteEngines = create<RemoteEngineStore>()((set) => ({
  engines: null,
  async load() {
    set({ engines: await core.call('remoteEngines.list') });
  },
}));

export const listenToRemoteEngines = (): (() => void) =>
  core.on('remoteEngines.changed', (engines) => useRemoteEngines.setState({ engines }));

/** Whether messages to this model leave the computer. */
export const leaves = (
  model: Pick<ModelEntry, 'remote'> | null,
): model is ModelEntry & { remote: NonNullable<ModelEntry['remote']> } => model?.remote != null && !model.remote.here;
