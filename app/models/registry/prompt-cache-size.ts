import { totalmem } from 'node:os';
import type { LoadTarget } from '../../engine/ipc-protocol.ts';
import type { Settings } from '../../protocol/index.ts';

const MB = 2 ** 20;
const SHARE = 1 / 8;
const MAX_BYTES = 8 * 1024 * MB;

/** Where the disk cache lies, and its key (in base64; null: not encrypted). Null: it cannot be used now. */
export type PromptCacheDisk = { folder: string; key: string | null } | null;

/** The disk cache; null: off. */
export const cacheDiskOf = (
  { promptCacheOnDisk, promptCacheDiskMB }: Pick<Settings, 'promptCacheOnDisk' | 'promptCacheDiskMB'>,
  disk: PromptCacheDisk,
): LoadTarget['cacheDisk'] => (promptCacheOnDisk && disk ? { ...disk, bytes: promptCacheDiskMB * MB } : null);

/** Memory limit of the prompt cache: as set, or else an eighth of the machine's memory. The engine uses less if memory is
 *  short. */
export const cacheBytesOf = ({ promptCacheMB }: Pick<Settings, 'promptCacheMB'>, memoryBytes: number): number =>
  promptCacheMB === null ? Math.min(MAX_BYTES, Math.floor(memoryBytes * SHARE)) : promptCacheMB * MB;

/** Both limits for this machine. */
export const cacheOf = (settings: Settings, disk: PromptCacheDisk): Pick<LoadTarget, 'cacheBytes' | 'cacheDisk'> => ({
  cacheBytes: cacheBytesOf(settings, totalmem()),
  cacheDisk: cacheDiskOf(settings, disk),
});
