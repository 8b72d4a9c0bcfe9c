// Waits for what the app reports about its models, never for a fixed time.
import { vi } from 'vitest';
import type { Client, ModelEntry } from '../../app/protocol/index.ts';

export const until = <T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> =>
  vi.waitFor(
    async () => {
      const value = await read();
      if (!fits(value)) throw new Error(`not yet: ${JSON.stringify(value)?.slice(0, 500)}`);
      return value;
    },
    { timeout: 20_000, interval: 20 },
  );
export const named = (client: Client, name: string, fits: (model: ModelEntry) => boolean): Promise<ModelEntry> =>
  until(
    async () => (await client.call('models.list')).find((model) => model.name === name) as ModelEntry,
    (model) => model !== undefined && fits(model),
  );
