import { create } from 'zustand';
import type { McpServer } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type McpStore = {
  /** Null until the core was asked. */
  servers: readonly McpServer[] | null;
  load(): Promise<void>;
};

/** Servers of tools, as the core tells of them. */
export const useMcp = create<McpStore>()((set) => ({
  servers: null,
  async load() {
    set({ servers: await core.call('mcp.servers') });
  },
}));

export const listenToMcp = (): (() => void) => core.on('mcp.changed', (servers) => useMcp.setState({ servers }));
