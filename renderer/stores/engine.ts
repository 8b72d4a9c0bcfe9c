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
  /** True after the process crashed, until the next answer is written. */
  restarted: boolean;
  models: ModelEntry[];
  devices: Device[];
  info: AppInfo | null;
  load(): Promise<void>;
};

/** State of the engine: status, models and devices, shared by all pages. */
export const useEngine = create<EngineStore>()((set) => ({
  status: { phase: 'idle' },
  restarted: false,
  models: [],
  devices: [],
  info: null,
  async load() {
    // Each is applied as it arrives: the devices wait for the engine, and setting all together would overwrite newer events.
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
/** Called whenever the engine has restarted: it may have crashed before it responded, and a GPU may have come or gone. Known
 *  devices are kept until there is a response. */
async function lookForDevices(): Promise<void> {
  if (looking) return;
  looking = true;
  try {
    useEngine.setState({ devices: await core.call('engine.devices') });
  } catch {
    // The engine ended meanwhile: the query is repeated when it is back.
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

/** Whether models run on a GPU, by default or by choice. */
export function useOnGpu(): boolean {
  const devices = useEngine((state) => state.devices);
  const chosen = useSettings((state) => state.values.device);
  const device = deviceInUse(devices, chosen);
  return device !== null && device.backEnd !== 'cpu';
}

export const modelById = (models: readonly ModelEntry[], id: string | null): ModelEntry | null =>
  models.find((model) => model.id === id) ?? null;
