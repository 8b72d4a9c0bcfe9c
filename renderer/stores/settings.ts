import { create } from 'zustand';
import { defaultSettings, type Settings } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { type Optimistic, shownSettings, withAnswer, withSent } from './optimistic.ts';

type SettingsStore = {
  values: Settings;
  /** False until the core responds: nothing is shown before, so that nothing jumps. */
  known: boolean;
  load(): Promise<void>;
  /** Applies at once and stores in the core. A refused change is reverted. */
  set(patch: Partial<Settings>): Promise<void>;
  /** Stores in the core first: for changes that must not show before they would survive a restart. */
  keep(patch: Partial<Settings>): Promise<void>;
  /** Applies for this page only, if nothing can be stored. */
  pretend(patch: Partial<Settings>): void;
};

export const useSettings = create<SettingsStore>()(() => ({
  values: defaultSettings,
  known: false,
  async load() {
    hold(await core.call('settings.get'));
  },
  async set(patch) {
    show(withSent(state, patch));
    try {
      // Awaited before `state` is read: meanwhile other changes may have been sent or confirmed.
      const held = await core.call('settings.set', patch);
      show(withAnswer(state, patch, held));
    } catch (error) {
      show(withAnswer(state, patch));
      throw error;
    }
  },
  async keep(patch) {
    hold(await core.call('settings.set', patch));
  },
  pretend: (patch) => show(withSent(state, patch)),
}));

let state: Optimistic = { held: defaultSettings, sent: [] };

function show(next: Optimistic): void {
  state = next;
  useSettings.setState({ values: shownSettings(state) });
}

function hold(held: Settings): void {
  show({ ...state, held });
  useSettings.setState({ known: true });
}

export const listenToSettings = () => core.on('settings.changed', hold);
