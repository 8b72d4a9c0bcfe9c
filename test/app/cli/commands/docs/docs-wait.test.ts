import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { until } from '../../../../../app/cli/commands/docs/docs-wait.ts';
import type { Client } from '../../../../../app/protocol/index.ts';

//  `docs add` waits for documents to be read: told by events, not by asking again and again.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A client that only listens, and a way to let something happen. */
function listening() {
  const listeners = new Set<() => void>();
  const on = (_: string, listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const happen = async () => {
    for (const listener of [...listeners]) listener();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { client: { on } as unknown as Client, listeners, happen };
}

describe('what is waited for', () => {
  test('is looked at once for every event, and never between them', async () => {
    const { client, happen } = listening();
    const look = vi.fn<() => Promise<string | null>>().mockResolvedValue(null);
    const done = until(client, new AbortController().signal, null, look);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(look).toHaveBeenCalledTimes(1);
    await happen();
    expect(look).toHaveBeenCalledTimes(2);
    look.mockResolvedValue('there');
    await happen();
    expect(await done).toBe('there');
    expect(look).toHaveBeenCalledTimes(3);
  });

  test('is not missed when it happens while it is looked at', async () => {
    const { client, happen } = listening();
    const answer = Promise.withResolvers<string | null>();
    const look = vi.fn<() => Promise<string | null>>().mockReturnValueOnce(answer.promise).mockResolvedValue('there');
    const done = until(client, new AbortController().signal, null, look);
    await happen();
    answer.resolve(null);
    expect(await done).toBe('there');
  });

  test('is given up after its time, and listened to no longer', async () => {
    const { client, listeners } = listening();
    const done = until(client, new AbortController().signal, 60_000, async () => null);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await done).toBeNull();
    expect(listeners.size).toBe(0);
  });

  test('leaves no timer behind, for which the command would not end', async () => {
    const { client, happen } = listening();
    const look = vi.fn<() => Promise<string | null>>().mockResolvedValue(null);
    const done = until(client, new AbortController().signal, 60_000, look);
    await happen();
    look.mockResolvedValue('there');
    await happen();
    expect(await done).toBe('there');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is stopped by its signal, and listened to no longer', async () => {
    const { client, listeners } = listening();
    const stop = new AbortController();
    const done = until(client, stop.signal, null, async () => null);
    const refused = expect(done).rejects.toMatchObject({ code: 'cancelled' });
    await vi.advanceTimersByTimeAsync(0);
    stop.abort();
    await refused;
    expect(listeners.size).toBe(0);
  });
});
