import { create } from 'zustand';
import type { ServerKey, ServerRequest, ServerState } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type ServerStore = {
  state: ServerState;
  keys: ServerKey[];
  /** Newest first. */
  requests: ServerRequest[];
  /** The request shown in full. */
  chosen: string | null;
  load(): Promise<void>;
};

/** The server for other programs, as reported by the core. */
export const useServer = create<ServerStore>()((set) => ({
  state: { phase: 'off' },
  keys: [],
  requests: [],
  chosen: null,
  async load() {
    const [state, keys, requests] = await Promise.all([
      core.call('server.state'),
      core.call('server.keys'),
      core.call('server.requests'),
    ]);
    set({ state, keys, requests });
  },
}));

export function listenToServer(): () => void {
  const stops = [
    core.on('server.state', (state) => useServer.setState({ state })),
    core.on('server.keys', (keys) => useServer.setState({ keys })),
    core.on('server.requests', (requests) => useServer.setState({ requests })),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
