import { type ErrorCode, type FailureReason, failureOf, LonghandError } from '../../protocol/index.ts';

//  queued ──start──▶ transferring ──all blocks──▶ verifying ──hash ok──▶ done
//    ▲                │    ▲   │                      └─hash differs──▶ repairing ─▶ verifying
//    └────resume──── paused└───┴─ENOSPC──▶ waitingForSpace, offline──▶ waitingForNetwork
//
//  Any state may end in `failed` or `cancelled`; a failed file keeps its blocks and can be resumed.

export type Bytes = number;

/** What a source or the disk did, finer than an `ErrorCode`. */
export type DownloadErrorCode = Extract<
  FailureReason,
  | 'not-found'
  | 'gated'
  | 'rate-limited'
  | 'server'
  | 'network'
  | 'off'
  | 'wrong-content'
  | 'not-a-model'
  | 'remote-changed'
  | 'hash-mismatch'
  | 'disk'
  | 'bad-name'
>;

export class DownloadError extends Error {
  readonly code: DownloadErrorCode;
  /** Whether waiting and asking again can help. */
  readonly transient: boolean;
  /** Seconds the server asked to wait. */
  readonly retryAfter: number | null;
  constructor(
    code: DownloadErrorCode,
    message: string,
    more: { transient?: boolean; retryAfter?: number | null; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'DownloadError';
    this.code = code;
    this.transient = more.transient ?? false;
    this.retryAfter = more.retryAfter ?? null;
  }
}

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

/** One file of a repository, as its source describes it. */
export type RemoteFile = {
  /** Stable across runs: `<source>:<repository>@<commit>/<path>`. */
  key: string;
  /** Path inside the repository, checked by `safePath`. */
  name: string;
  size: Bytes;
  /** The hub's SHA-256 in hex; null where the source publishes none (then the hash is recorded, not compared). */
  sha256: string | null;
  /** Validator of the content; null until the first answer tells it. */
  etag: string | null;
  /** A fresh address: signed ones expire. */
  address: () => Promise<Address>;
};
export type Address = {
  url: string;
  /** Sent to the host of `url` only, never along a redirect to another host. */
  token?: string;
};

/** What a failed download is called. What the disk answers has its own code; a file that is not found there, or cannot be read
 *  or written for no reason that is known, is the disk's fault and not the source's. */
export function codeOfFailed(error: unknown): DownloadErrorCode | ErrorCode {
  if (error instanceof DownloadError) return error.code;
  const { code } = failureOf(error);
  const ofDisk = !(error instanceof LonghandError) && (code === 'not-found' || code === 'unreadable');
  return ofDisk ? 'disk' : code;
}
