import { totalmem } from 'node:os';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { memoryIsShort } from '../../../../app/models/hardware/hardware.ts';
import { createIdleUnload } from '../../../../app/models/hardware/idle-unload.ts';
import type { EngineStatus, ModelId } from '../../../../app/protocol/index.ts';

const minuteMs = 60_000;
const inMemory = { modelId: 'model' as ModelId, backEnd: 'cpu', memoryBytes: 1, contextLength: 512 };
const at = (phase: 'ready' | 'busy'): EngineStatus =>
  phase === 'ready' ? { phase, ...inMemory } : { phase, ...inMemory, writing: [] };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function keep(minutes: number | null, short = false) {
  const [unload, ask] = [vi.fn(async () => {}), vi.fn(async () => null as never)];
  const keepAlive = createIdleUnload({ engine: { unload, ask }, minutes: () => minutes, memoryIsShort: () => short });
  onTestFinished(keepAlive.close);
  return { unload, ask, keepAlive };
}

test('an idle model leaves after its minutes, and a question begins them anew', () => {
  const { unload, keepAlive } = keep(5);
  keepAlive.status(at('ready'));
  vi.advanceTimersByTime(4 * minuteMs);
  keepAlive.status(at('busy'));
  vi.advanceTimersByTime(20 * minuteMs);
  keepAlive.status(at('ready'));
  vi.advanceTimersByTime(4.5 * minuteMs);
  expect(unload).not.toHaveBeenCalled();
  vi.advanceTimersByTime(minuteMs);
  expect(unload).toHaveBeenCalledOnce();
});

test('without a limit it stays as long as there is memory; when others need it, it goes a minute after its last answer', () => {
  const rich = keep(null);
  rich.keepAlive.status(at('ready'));
  vi.advanceTimersByTime(600 * minuteMs);
  expect(rich.unload).not.toHaveBeenCalled();
  const poor = keep(null, true);
  poor.keepAlive.status(at('ready'));
  vi.advanceTimersByTime(0.9 * minuteMs);
  expect(poor.unload).not.toHaveBeenCalled();
  vi.advanceTimersByTime(0.5 * minuteMs);
  expect(poor.unload).toHaveBeenCalledOnce();
});

test('before it goes, and while it writes, it gives back what can be computed again; with nothing loaded nobody is asked', () => {
  const { unload, ask, keepAlive } = keep(null, true);
  vi.advanceTimersByTime(minuteMs);
  expect(ask).not.toHaveBeenCalled();
  keepAlive.status(at('busy'));
  vi.advanceTimersByTime(5 * minuteMs);
  expect(ask).toHaveBeenCalledTimes(60);
  expect(ask).toHaveBeenLastCalledWith('relieveMemory', null);
  expect(unload).not.toHaveBeenCalled();
  keepAlive.status(at('ready'));
  vi.advanceTimersByTime(0.9 * minuteMs);
  expect([ask.mock.calls.length, unload.mock.calls.length]).toEqual([70, 0]);
  vi.advanceTimersByTime(minuteMs);
  expect(unload).toHaveBeenCalledOnce();
  const rich = keep(null);
  rich.keepAlive.status(at('busy'));
  vi.advanceTimersByTime(minuteMs);
  expect(rich.ask).not.toHaveBeenCalled();
});

test('a program may say how long the model stays, until something is written again', () => {
  const { unload, keepAlive } = keep(5);
  keepAlive.status(at('ready'));
  expect(keepAlive.expiresAt()).toBe(Date.now() + 5 * minuteMs);
  keepAlive.keepFor(null);
  expect(keepAlive.expiresAt()).toBeNull();
  vi.advanceTimersByTime(60 * minuteMs);
  expect(unload).not.toHaveBeenCalled();
  keepAlive.status(at('busy'));
  keepAlive.status(at('ready'));
  expect(keepAlive.expiresAt()).toBe(Date.now() + 5 * minuteMs);
  keepAlive.keepFor(minuteMs);
  vi.advanceTimersByTime(1.5 * minuteMs);
  expect(unload).toHaveBeenCalledOnce();
  keepAlive.status(at('busy'));
  keepAlive.keepFor(0);
  expect(unload).toHaveBeenCalledOnce();
  keepAlive.status(at('ready'));
  expect(unload).toHaveBeenCalledTimes(2);
});

test('memory is short when the machine or the container has almost none left', () => {
  const machine = (available: number) => (path: string) =>
    path === '/proc/meminfo' ? `MemAvailable: ${Math.round(available / 1024)} kB\n` : '';
  expect(memoryIsShort(machine(64 * 2 ** 20))).toBe(true);
  // 256 MB, or three hundredths of a large machine.
  const border = Math.max(256 * 2 ** 20, 0.03 * totalmem());
  expect(memoryIsShort(machine(border - 4096))).toBe(true);
  expect(memoryIsShort(machine(border + 4096))).toBe(false);
  expect(memoryIsShort(machine(2 ** 50))).toBe(false);
  expect(memoryIsShort(() => '')).toBe(false);
});
