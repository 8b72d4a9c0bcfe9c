import { type ErrorCode, type FailureReason, failureOf, LonghandError } from '../../protocol/index.ts';

export type Bytes = number;

/** Errors of sources and disks, finer than an `ErrorCode`. */
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
  /** Whether a retry may help. */
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

/** The code of a failed download. Disk errors have their own codes; a local file that is missing, or cannot be read
 *  or written for an unknown reason, is the fault of the disk and not of the source. */
export function codeOfFailed(error: unknown): DownloadErrorCode | ErrorCode {
  if (error instanceof DownloadError) return error.code;
  const { code } = failureOf(error);
  const ofDisk = !(error instanceof LonghandError) && (code === 'not-found' || code === 'unreadable');
  return ofDisk ? 'disk' : code;
}
