import { z } from 'zod';
import { withMarksVisible } from './readable-name.ts';

/** Every failure that crosses a process. Closed: the interface has one sentence for each (strings `errors.<code>`). */
export const ErrorCode = z.enum([
  'bad-request', // the input does not fit its schema
  'not-found',
  'conflict', // changed or locked by somebody else
  'cancelled',
  'core-lost', // the connection to the core closed before it answered
  'engine-lost', // the engine process ended
  'engine-failed', // an internal error of the engine
  'remote-failed', // a remote engine failed
  'model-missing', // no model chosen, or its files are gone
  'model-unsupported',
  'model-broken', // malformed files
  'out-of-memory',
  'context-full',
  'template-failed',
  'disk-full',
  'read-only',
  'database-corrupt',
  'database-newer',
  'data-folder-held', // another Longhand uses this data folder
  'network',
  'permission',
  'too-large',
  'too-many-files', // no more file descriptors
  'unreadable', // not readable as the type it claims to be
  'internal',
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** Values of `details.reason` where a code is too coarse; a closed set too (strings `trouble.<reason>`). */
export const FailureReason = z.enum([
  // downloads and sources
  'not-found', // 404, 410
  'gated', // 401, 403: needs a token or an accepted licence
  'rate-limited',
  'server', // 5xx, or an answer that breaks HTTP's rules
  'network',
  'off', // the user has switched the network off
  'wrong-content', // a web page instead of a file
  'remote-changed',
  'hash-mismatch', // the whole file differs from the published hash after a full repair
  'disk', // a disk error other than full
  'bad-name',
  'no-source', // its source is no longer configured
  // models
  'bad-reference',
  'no-model', // a repository without a model
  'not-a-model', // not a model file or folder
  'several-models', // several models in one folder
  'no-path', // not the full path of a file or folder
  'no-file', // nothing is at that path
  'writes-nothing', // an encoder instead of a generative model
  'part-of-a-model', // some files are missing
  'being-written', // in use by another program
  'unmounted', // its drive or folder is not mounted
  'other-vision', // not the vision tower of this model
  'vision-gone', // the chosen vision tower is no longer there
  'runs-elsewhere', // a remote model, whose files are not here
  'shrink-busy', // another smaller version is being made
  'shrink-moving', // the library is being moved
  'shrink-reads-only', // an encoder
  'shrink-quantised', // quantised already, and nobody said that it should be again
  'shrink-no-smaller', // that form is not smaller, or does not exist
  'shrink-lost', // its process ended by itself
  'latent-already', // it has latent attention
  'latent-family', // no Llama, or one whose attention has biases
  'latent-file', // GGUF: a folder of safetensors is needed
  'latent-rounded', // quantised before
  'latent-no-smaller', // it would keep as much of a token as now
  'quality-busy', // another test is running
  'quality-other-text', // a reference of another text, tokenizer or window size
  'quality-no-template', // questions need a chat template
  'quality-short-text', // fewer than two tokens
  'quality-questions', // a line that is no question
  'quality-no-question', // a file without any
  'quality-not-text', // a file of bytes
  'quality-too-long', // longer than the context of the model
  'quality-lost', // its process ended by itself
  'made-here', // damaged files that cannot be downloaded again
  'not-ours', // nothing is known to check its files against
  // pictures
  'heic', // only macOS decodes it
  // chats
  'queue-full', // the queue is full
  // the engine
  'hung', // it hung and was killed
  // remote engines
  'engine-address', // not a valid address
  'engine-removed', // it was taken out of the list
  'engine-unreachable', // connection refused
  'engine-tls', // untrusted certificate, or no TLS
  'engine-timeout', // timeout
  'engine-key', // 401, 403
  'engine-foreign', // not an OpenAI-compatible answer
  'engine-redirect', // a redirect to another address
  'engine-model', // no such model there
  'engine-context', // the conversation is too long for it
  'engine-busy', // 429, 503 with a time to wait
  'engine-refused', // another 4xx
  'engine-error', // 5xx, or an error in the middle of an answer
  'engine-hung-up', // the connection was closed in mid-answer
  'engine-flood', // the response exceeds the limits
  'passages-stay', // the chat does not allow sending documents
]);
export type FailureReason = z.infer<typeof FailureReason>;

export const Failure = z.object({
  code: ErrorCode,
  /** `[where] what came, what is allowed`; for the report, in English. */
  message: z.string(),
  hint: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Failure = z.infer<typeof Failure>;

export class LonghandError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  constructor(
    code: ErrorCode,
    message: string,
    more: { hint?: string; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(withMarksVisible(message), more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'LonghandError';
    this.code = code;
    this.hint = more.hint;
    this.details = more.details;
  }
}

/** Errors of files and disks by the operating system's names (errno). */
const SYSTEM: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'not-found',
  ENOTDIR: 'not-found',
  ENAMETOOLONG: 'not-found',
  EACCES: 'permission',
  EPERM: 'permission',
  EBUSY: 'conflict',
  ETXTBSY: 'conflict',
  EROFS: 'read-only',
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EFBIG: 'too-large',
  EMFILE: 'too-many-files',
  ENFILE: 'too-many-files',
  EISDIR: 'unreadable',
  ELOOP: 'unreadable',
  EIO: 'unreadable',
  ENXIO: 'unreadable', // a socket, a missing device
  ENODEV: 'unreadable',
};

/** The code for an error of a file or a disk; null for any other error. */
export function codeOfSystem(error: unknown): ErrorCode | null {
  const name = error instanceof Error && 'code' in error ? error.code : null;
  return typeof name === 'string' && Object.hasOwn(SYSTEM, name) ? (SYSTEM[name] ?? null) : null;
}

/** The first mismatch with a schema: its path, and what is expected there. */
export function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue ? `"${issue.path.join('.')}": ${issue.message}` : 'does not fit its schema';
}

/** The failure to send for anything that was thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof LonghandError) {
    return {
      code: error.code,
      message: error.message,
      ...(error.hint !== undefined && { hint: error.hint }),
      ...(error.details && { details: error.details }),
    };
  }
  return { code: codeOfSystem(error) ?? 'internal', message: error instanceof Error ? error.message : String(error) };
}
