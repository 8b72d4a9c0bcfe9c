//  queued ──start──▶ transferring ──all blocks──▶ verifying ──hash ok──▶ done
//    ▲                │    ▲   │                      └─hash differs──▶ repairing ─▶ verifying
//    └────resume──── paused└───┴─ENOSPC──▶ waitingForSpace, offline──▶ waitingForNetwork
//
//  Any state may end in `failed` or `cancelled`; a failed file keeps its blocks and can be resumed.

export type Bytes = number;

export type DownloadErrorCode =
  | 'not-found' // 404, 410
  | 'gated' // 401, 403: needs a token or an accepted licence
  | 'rate-limited'
  | 'server' // 5xx, or an answer that breaks HTTP's rules
  | 'network'
  | 'off' // the user has switched the network off
  | 'wrong-content' // a web page instead of a file
  | 'remote-changed'
  | 'hash-mismatch' // the whole file differs from the published hash after a full repair
  | 'disk'
  | 'bad-name';

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
  | { at: 'queued' }
  | { at: 'transferring'; done: Bytes; rate: number | null; secondsLeft: number | null }
  | { at: 'waitingForSpace'; done: Bytes; missing: Bytes }
  | { at: 'waitingForNetwork'; done: Bytes; attempt: number; reason: string }
  | { at: 'paused'; done: Bytes }
  | { at: 'verifying'; checked: Bytes }
  | { at: 'repairing'; damaged: Bytes; done: Bytes }
  /** `blocks`: the SHA-256 of each block, 32 bytes one after the other. */
  | { at: 'done'; path: string; bytes: Bytes; sha256: string; blocks: Uint8Array }
  | { at: 'failed'; code: DownloadErrorCode; message: string; done: Bytes }
  | { at: 'cancelled' };

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
