// The prompt cache as Settings and the Privacy page rule it: its limits, its key, and what is deleted with it.
import { totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { createPromptCacheControl } from '../../../../app/models/registry/prompt-cache-control.ts';
import { cacheBytesOf, cacheDiskOf } from '../../../../app/models/registry/prompt-cache-size.ts';
import { type ChatId, defaultSettings, type Settings } from '../../../../app/protocol/index.ts';
import type { Database } from '../../../../app/store/database/database.ts';
import { open } from '../../store/support.ts';

const MB = 2 ** 20;
const later = () => new Promise(setImmediate);

async function start(
  more: Partial<Settings>,
  { opens = true, bytes = 0, use = null as object | null, db = null as Database | null } = {},
) {
  const log: unknown[] = [];
  const settings: Settings = { ...defaultSettings, promptCacheMB: 3, promptCacheDiskMB: 5, ...more };
  let key: { key: string } | null = null;
  const control = createPromptCacheControl({
    db,
    engine: {
      async ask(name: string, input: unknown) {
        await later();
        log.push(input === null ? name : [name, input]);
        return name === 'promptCache' ? use : null;
      },
    },
    files: {
      folder: '/prompts',
      size: async () => bytes,
      clear: async () => void log.push('files cleared'),
      forget: async (chatId: string) => void log.push(`files of ${chatId} deleted`),
    },
    key: {
      current: () => key,
      async open() {
        await later();
        log.push('key opened');
        if (opens) key = { key: 'k' };
        return opens ? 'encrypted' : 'locked';
      },
      forget() {
        log.push('key forgotten');
        key = null;
      },
    },
    settings: () => settings,
    now: () => Date.now(),
  } as unknown as Parameters<typeof createPromptCacheControl>[0]);
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await later();
    return log.splice(0);
  };
  return { control, settings, settle, first: await settle() };
}
const disk = { folder: '/prompts', key: 'k', bytes: 5 * MB };
const limits = (on: object | null) => ['setPromptCache', { bytes: 3 * MB, disk: on }];

test('limits in bytes; on the disk only where that is wanted and can be', () => {
  const there = { folder: '/prompts', key: null };
  const of = (promptCacheOnDisk: boolean, place: typeof there | null) =>
    cacheDiskOf({ promptCacheOnDisk, promptCacheDiskMB: 7 }, place);
  expect([of(true, there), of(false, there), of(true, null)]).toEqual([{ ...there, bytes: 7 * MB }, null, null]);
  expect(cacheBytesOf({ promptCacheMB: null }, 1001)).toBe(125);
  expect(cacheBytesOf({ promptCacheMB: null }, totalmem())).toBeGreaterThan(MB);
});

test('on the disk: the key is opened first, and the loaded model hears of it only once there is one', async () => {
  const { first, control } = await start({ promptCacheOnDisk: true });
  expect(first).toEqual(['key opened', limits(disk)]);
  expect(control.disk()).toEqual({ folder: '/prompts', key: 'k' });
  const locked = await start({ promptCacheOnDisk: true }, { opens: false });
  expect([locked.first, locked.control.disk()]).toEqual([['key opened'], null]);
  const memory = await start({ promptCacheOnDisk: false });
  expect([memory.first, memory.control.disk()]).toEqual([[], null]);
});

test('settings that concern it apply at once; switched off, its key and its files go', async () => {
  const { control, settings, settle } = await start({ promptCacheOnDisk: true });
  control.settingsChanged({ theme: 'dark' } as never);
  expect(await settle()).toEqual([]);
  for (const patch of [{ promptCacheMB: 3 }, { promptCacheDiskMB: 5 }]) {
    control.settingsChanged(patch);
    expect(await settle()).toEqual([limits(disk)]);
  }
  settings.promptCacheOnDisk = false;
  control.settingsChanged({ promptCacheOnDisk: false });
  expect(await settle()).toEqual([limits(null), 'key forgotten', 'files cleared']);
  settings.promptCacheOnDisk = true;
  control.settingsChanged({ promptCacheOnDisk: true });
  expect(await settle()).toEqual([limits(null), 'key opened', limits(disk)]);
});

test('a deleted chat goes from the engine and from the disk; clearing takes all, and begins with a new key', async () => {
  const { control, settle } = await start({ promptCacheOnDisk: true });
  control.forget('c1' as ChatId);
  expect(await settle()).toEqual([['erasePromptCache', { chatId: 'c1' }], 'files of c1 deleted']);
  await control.handlers['engine.clearPromptCache']();
  expect(await settle()).toEqual([
    'clearPromptCache',
    'key forgotten',
    limits(null),
    'files cleared',
    'key opened',
    limits(disk),
  ]);
  const memory = await start({ promptCacheOnDisk: false });
  memory.control.forget('c1' as ChatId);
  expect(await memory.settle()).toEqual(['files of c1 deleted']);
});

test('what it holds is told where there is anything to tell', async () => {
  const { db } = await open();
  const told = async (settings: Partial<Settings>, more: object = {}) =>
    (await start(settings, { ...more, db })).control.handlers['engine.promptCache']();
  const none = { bytes: 0, budgetBytes: 0, diskBytes: 0, onDisk: null, hitShare: null };
  expect(await told({ promptCacheOnDisk: false })).toBeNull();
  expect(await told({ promptCacheOnDisk: false }, { bytes: 9 })).toEqual({ ...none, diskBytes: 9 });
  expect(await told({ promptCacheOnDisk: true })).toEqual({ ...none, onDisk: 'encrypted' });
  const use = { bytes: 4, budgetBytes: 8 };
  expect(await told({ promptCacheOnDisk: false }, { use })).toEqual({ ...none, ...use });
});
