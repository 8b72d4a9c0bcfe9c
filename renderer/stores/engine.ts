import { create } from 'zustand';
import {
  type Device,
  deviceInUse,
  type EngineStatus,
  type ModelEntry,
  type Response,
} from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { versionOf } from '../lib/version.ts';
import { useSettings } from './settings.ts';

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
  status: { phase: 'idle' },
  restarted: false,
  models: [],
  devices: [],
  info: null,
  async load() {
    // Each is shown as it comes: the devices wait for the engine, and what it said meanwhile would be overwritten.
    await Promise.all([
      core.call('engine.status').then((status) => set({ status })),
      core.call('models.list').then((models) => set({ models })),
      lookForDevices(),
      core.call('app.info').then((info) => set({ info })),
    ]);
  },
}));

export function listenToEngine(): () => void {
  const stops = [
    core.on('engine.status', (status) => {
      const before = useEngine.getState();
      useEngine.setState({ status, restarted: afterRestart(before.restarted, status) });
      const anew = status.phase === 'idle' && before.status.phase !== 'idle';
      if (anew || (before.devices.length === 0 && status.phase === 'ready')) void lookForDevices();
    }),
    core.on('models.changed', (models) => useEngine.setState({ models })),
    core.on('model.changed', (changed) =>
      useEngine.setState(({ models }) => ({ models: models.map((one) => (one.id === changed.id ? changed : one)) })),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

let looking = false;
/** Asked again whenever the engine stands there anew: one that ended before it answered leaves none, and a GPU may have come or
 *  gone. What is known stays until there is an answer. */
async function lookForDevices(): Promise<void> {
  if (looking) return;
  looking = true;
  try {
    useEngine.setState({ devices: await core.call('engine.devices') });
  } catch {
    // The engine ended meanwhile: it is asked again when it is back.
  } finally {
    looking = false;
  }
}

const afterRestart = (restarted: boolean, status: EngineStatus) =>
  status.phase === 'restarting' || (restarted && status.phase !== 'busy');

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
