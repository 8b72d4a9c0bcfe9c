import { create } from 'zustand';
import type { Elsewhere, ModelEntry } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type ElsewhereStore = {
  /** Null until loaded. */
  engines: readonly Elsewhere[] | null;
  load(): Promise<void>;
};

/** Remote engines, as reported by the core. */
export const useElsewhere = create<ElsewhereStore>()((set) => ({
  engines: null,
  async load() {
    set({ engines: await core.call('elsewhere.engines') });
  },
}));

export const listenToElsewhere = (): (() => void) =>
  core.on('elsewhere.changed', (engines) => useElsewhere.setState({ engines }));

/** Whether messages to this model leave the computer. */
export const leaves = (
  model: Pick<ModelEntry, 'elsewhere'> | null,
): model is ModelEntry & { elsewhere: NonNullable<ModelEntry['elsewhere']> } =>
  model?.elsewhere != null && !model.elsewhere.here;
