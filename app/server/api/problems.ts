import type { z } from 'zod';
import { type Failure, failureOf, LonghandError } from '../../protocol/index.ts';

//  Errors as HTTP status and message; each API formats them in its own way.

export type Problem = {
  status: 400 | 401 | 403 | 404 | 411 | 413 | 415 | 429 | 500 | 503;
  code: Failure['code'] | 'too-busy';
  message: string;
  /** Of 429: seconds after which it may be tried again. */
  wait?: number | undefined;
};

const STATUS: Partial<Record<Failure['code'], Problem['status']>> = {
  'bad-request': 400,
  'context-full': 400,
  'template-failed': 400,
  'too-large': 413,
  'not-found': 404,
  'model-missing': 404,
  'model-unsupported': 400,
  'out-of-memory': 503,
  'engine-lost': 503,
  cancelled: 503,
};

export function problemOf(error: unknown): Problem {
  if (error instanceof TooBusy) return { status: 429, code: 'too-busy', message: error.message };
  const { code, message } = failureOf(error);
  return { status: STATUS[code] ?? 500, code, message };
}

/** Seconds until a place in the queue may be free. */
const USUAL_WAIT = 2;

/** What an answer with this problem begins with. */
export const headOf = ({ status, wait = USUAL_WAIT }: Problem): ResponseInit => ({
  status,
  ...(status === 429 && { headers: { 'Retry-After': String(wait) } }),
});

/** The request queue is full. */
export class TooBusy extends Error {}

/** Validates a body with the schema of its API. @throws LonghandError `bad-request`: where, what came, what is allowed */
export function readBody<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { path, message } = closest(parsed.error.issues);
  throw new LonghandError('bad-request', `[${path.join('.') || 'body'}] ${message}`);
}

type Issue = { path: PropertyKey[]; message: string };

/** For a union, the issue of the variant that matches best. */
function closest(issues: readonly z.core.$ZodIssue[]): Issue {
  const [issue] = issues;
  if (!issue) return { path: [], message: 'is not what is expected' };
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const inner = issue.errors.map(closest).reduce((best, one) => (one.path.length >= best.path.length ? one : best));
  return { path: [...issue.path, ...inner.path], message: inner.message };
}
