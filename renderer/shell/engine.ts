import { create } from 'zustand';
import {
  type Device,
  deviceInUse,
  type EngineStatus,
  type ModelEntry,
  type Response,
} from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useSettings } from '../settings/store.ts';
import { versionOf } from './version.ts';

type AppInfo = Response<'app.info'>;

type EngineStore = {
  status: EngineStatus;
  /** True after the process ended by itself, until an answer was written again. */
  restarted: boolean;
  models: ModelEntry[];
  devices: Device[];
  info: AppInfo | null;
  load(): Promise<void>;
};

/** What the machine is doing: status, models and devices, shared by every page. */
export const useEngine = create<EngineStore>()((set) => ({
  status: { at: 'idle' },
  restarted: false,
  models: [],
  devices: [],
  info: null,
  async load() {
    // Each is shown as it comes: the devices wait for the engine, and what it said meanwhile would be overwritten.
    await Promise.all([
      core.call('engine.status').then((status) => set({ status })),
      core.call('models.list').then((models) => set({ models })),
      core.call('engine.devices').then((devices) => set({ devices })),
      core.call('app.info').then((info) => set({ info })),
    ]);
  },
}));

export function listenToEngine(): () => void {
  const stops = [
    core.on('engine.status', (status) =>
      useEngine.setState((state) => ({ status, restarted: afterRestart(state.restarted, status) })),
    ),
    core.on('models.changed', (models) => useEngine.setState({ models })),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const afterRestart = (restarted: boolean, status: EngineStatus) =>
  status.at === 'restarting' || (restarted && status.at !== 'busy');

/** Which Longhand this is, as the first line of a report. */
export function appLine(): string {
  const { info } = useEngine.getState();
  return info ? `Longhand ${versionOf(info)}, ${info.platform}` : 'Longhand';
}

/** Whether models are computed on a GPU here, by themselves or by choice. */
export function useOnGpu(): boolean {
  const devices = useEngine((state) => state.devices);
  const chosen = useSettings((state) => state.values.device);
  const device = deviceInUse(devices, chosen);
  return device !== null && device.backEnd !== 'cpu';
}

export const modelById = (models: readonly ModelEntry[], id: string | null): ModelEntry | null =>
  models.find((model) => model.id === id) ?? null;

export type Fit = 'fits' | 'tight' | 'too-large';

/** Weights, state and context against the memory of the device: fits below 85 %, tight to 100 %. */
export function fitOf(model: ModelEntry, contextLength: number, memoryBytes: number): Fit | null {
  const { description } = model;
  if (!description || memoryBytes <= 0) return null;
  const needed = description.weightBytes + description.stateBytes + description.contextBytesPerToken * contextLength;
  const share = needed / memoryBytes;
  return share < 0.85 ? 'fits' : share <= 1 ? 'tight' : 'too-large';
}
