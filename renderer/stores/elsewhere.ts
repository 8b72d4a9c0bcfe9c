import { create } from 'zustand';
import type { Elsewhere, ModelEntry } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type ElsewhereStore = {
  /** Null until the core was asked. */
  engines: readonly Elsewhere[] | null;
  load(): Promise<void>;
};

/** Engines elsewhere, as the core tells of them. */
export const useElsewhere = create<ElsewhereStore>()((set) => ({
  engines: null,
  async load() {
    set({ engines: await core.call('elsewhere.engines') });
  },
}));

export const listenToElsewhere = (): (() => void) =>
  core.on('elsewhere.changed', (engines) => useElsewhere.setState({ engines }));

/** Whether what is said to this model leaves the computer. */
export const leaves = (
  model: Pick<ModelEntry, 'elsewhere'> | null,
): model is ModelEntry & { elsewhere: NonNullable<ModelEntry['elsewhere']> } =>
  model?.elsewhere != null && !model.elsewhere.here;
