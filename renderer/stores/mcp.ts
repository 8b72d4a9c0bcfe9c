import { create } from 'zustand';
import type { McpServer } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type McpStore = {
  /** Null until loaded. */
  servers: readonly McpServer[] | null;
  load(): Promise<void>;
};

/** Tool servers, as reported by the core. */
export const useMcp = create<McpStore>()((set) => ({
  servers: null,
  async load() {
    set({ servers: await core.call('mcp.servers') });
  },
}));

export const listenToMcp = (): (() => void) => core.on('mcp.changed', (servers) => useMcp.setState({ servers }));
