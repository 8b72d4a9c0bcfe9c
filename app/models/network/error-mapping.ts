import { type ErrorCode, LonghandError } from '../../protocol/index.ts';
import { DownloadError, type DownloadErrorCode } from './download-error.ts';

const codes: Record<DownloadErrorCode, ErrorCode> = {
  'not-found': 'not-found',
  gated: 'permission',
  'rate-limited': 'network',
  server: 'network',
  network: 'network',
  off: 'network',
  'wrong-content': 'unreadable',
  'not-a-model': 'unreadable',
  'remote-changed': 'conflict',
  'hash-mismatch': 'unreadable',
  disk: 'unreadable',
  'bad-name': 'bad-request',
};

/** Converts errors of sources for the protocol; `details.reason` has the finer code. */
export function asFailure(error: unknown): unknown {
  if (error instanceof DownloadError) {
    return new LonghandError(codes[error.code], error.message, { details: { reason: error.code }, cause: error });
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new LonghandError('network', '[models] no answer within a minute', { details: { reason: 'network' } });
  }
  return error;
}
