import { create } from 'zustand';
import { defaultSettings, type Settings } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type SettingsStore = {
  values: Settings;
  /** False until the core answered: nothing is shown before, so that nothing jumps. */
  known: boolean;
  load(): Promise<void>;
  /** At once here, and kept by the core. What it refuses goes back to what it holds. */
  set(patch: Partial<Settings>): Promise<void>;
  /** Kept by the core first: for what must not be seen before it would be there after a restart. */
  keep(patch: Partial<Settings>): Promise<void>;
};

export const useSettings = create<SettingsStore>()((set, get) => ({
  values: defaultSettings,
  known: false,
  async load() {
    set({ values: await core.call('settings.get'), known: true });
  },
  async set(patch) {
    const before = get().values;
    set({ values: { ...before, ...patch } });
    try {
      set({ values: await core.call('settings.set', patch) });
    } catch (error) {
      set({ values: before });
      throw error;
    }
  },
  async keep(patch) {
    set({ values: await core.call('settings.set', patch) });
  },
}));

export const listenToSettings = () =>
  core.on('settings.changed', (values) => useSettings.setState({ values, known: true }));
