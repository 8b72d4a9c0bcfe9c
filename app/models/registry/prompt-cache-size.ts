import type { Settings } from '../../protocol/index.ts';

const MB = 2 ** 20;
const SHARE = 1 / 8;
const MAX_BYTES = 8 * 1024 * MB;

/** Bytes that what was read may take: as set, else an eighth of the machine's memory. The engine takes less where memory is
 *  short. */
export const cacheBytesOf = ({ promptCacheMB }: Pick<Settings, 'promptCacheMB'>, memoryBytes: number): number =>
  promptCacheMB === null ? Math.min(MAX_BYTES, Math.floor(memoryBytes * SHARE)) : promptCacheMB * MB;
