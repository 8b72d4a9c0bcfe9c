import { z } from 'zod';

/** Every failure that crosses a process. Closed: the interface has one sentence for each (strings `errors.<code>`). */
export const ErrorCode = z.enum([
  'bad-request', // the input does not fit its schema
  'not-found',
  'conflict', // somebody else changed or holds it
  'cancelled',
  'core-lost', // the connection to the core closed before it answered
  'engine-lost', // the engine process ended
  'engine-failed', // the engine answered with an error of its own
  'elsewhere-failed', // an engine elsewhere did not answer as it should
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
  'too-many-files', // the system gives this process no more open files
  'unreadable', // a file that cannot be read as what it claims to be
  'internal',
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** What `details.reason` may say where a code is not fine enough for a sentence; closed too (strings `trouble.<reason>`). */
export const FailureReason = z.enum([
  // of a download or of what a source answered
  'not-found', // 404, 410
  'gated', // 401, 403: needs a token or an accepted licence
  'rate-limited',
  'server', // 5xx, or an answer that breaks HTTP's rules
  'network',
  'off', // the user has switched the network off
  'wrong-content', // a web page instead of a file
  'remote-changed',
  'hash-mismatch', // the whole file differs from the published hash after a full repair
  'disk', // it failed in another way than being full
  'bad-name',
  'no-source', // where it came from is no longer set up
  // of a model
  'bad-reference',
  'no-model', // a repository without a model
  'not-a-model', // a file or folder that is none
  'several-models', // in one folder
  'no-path', // not the full path of a file or folder
  'no-file', // nothing is at that path
  'writes-nothing', // an encoder, where a model that writes is wanted
  'part-of-a-model', // some of its files alone
  'being-written', // by another program
  'unmounted', // its drive or folder is not there
  'not-ours', // nothing is known to check its files against
  // of a picture
  'heic', // only macOS decodes it
  // of a chat
  'queue-full', // as many messages wait as may
  // of the engine
  'hung', // it answered no more, and was ended
  // of an engine elsewhere
  'engine-address', // what was typed is no address
  'engine-removed', // it was taken out of the list
  'engine-unreachable', // nobody answers there
  'engine-tls', // its certificate is not trusted, or it speaks no TLS
  'engine-timeout', // nothing came in time
  'engine-key', // 401, 403
  'engine-foreign', // it answers, but not as OpenAI does
  'engine-redirect', // it points to another address
  'engine-model', // it does not have this model
  'engine-context', // the conversation is too long for it
  'engine-busy', // 429, 503 with a time to wait
  'engine-refused', // another 4xx
  'engine-error', // 5xx, or an error in the middle of an answer
  'engine-hung-up', // it closed the connection in the middle of an answer
  'engine-flood', // it sent more than anybody reads
  'passages-stay', // documents are not sent to another computer unless the chat says so
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
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'LonghandError';
    this.code = code;
    this.hint = more.hint;
    this.details = more.details;
  }
}

/** What the operating system says about files and disks, by its own names for it (errno). */
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
  ENXIO: 'unreadable', // a socket, a device that is not there
  ENODEV: 'unreadable',
};

/** The code for an error of a file or a disk; null for any other error. */
export function codeOfSystem(error: unknown): ErrorCode | null {
  const name = error instanceof Error && 'code' in error ? error.code : null;
  return typeof name === 'string' && Object.hasOwn(SYSTEM, name) ? (SYSTEM[name] ?? null) : null;
}

/** Where something does not fit its schema, and what is wanted there. */
export function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue ? `"${issue.path.join('.')}": ${issue.message}` : 'does not fit its schema';
}

/** What crosses the border for anything that was thrown. */
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
