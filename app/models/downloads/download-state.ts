import type { ErrorCode } from '../../protocol/index.ts';
import type { Bytes, DownloadErrorCode } from '../network/download-error.ts';

//  queued ──start──▶ transferring ──all blocks──▶ verifying ──hash ok──▶ done
//    ▲                │    ▲   │                      └─hash differs──▶ repairing ─▶ verifying
//    └────resume──── paused└───┴─ENOSPC──▶ waitingForSpace, offline──▶ waitingForNetwork
//
//  Any state may end in `failed` or `cancelled`; a failed file keeps its blocks and can be resumed.

export type DownloadState =
  | { phase: 'queued' }
  | { phase: 'transferring'; done: Bytes; rate: number | null; secondsLeft: number | null }
  | { phase: 'waitingForSpace'; done: Bytes; missing: Bytes }
  | { phase: 'waitingForNetwork'; done: Bytes; attempt: number; reason: string }
  | { phase: 'paused'; done: Bytes }
  | { phase: 'verifying'; checked: Bytes }
  | { phase: 'repairing'; damaged: Bytes; done: Bytes }
  /** `blocks`: the SHA-256 of each block, 32 bytes one after the other. */
  | { phase: 'done'; path: string; bytes: Bytes; sha256: string; blocks: Uint8Array }
  | { phase: 'failed'; code: DownloadErrorCode | ErrorCode; message: string; done: Bytes }
  | { phase: 'cancelled' };
