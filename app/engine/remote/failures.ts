import { type ErrorCode, type FailureReason, LonghandError } from '../../protocol/index.ts';

//  Errors of remote engines in our own words. The server's message is quoted, shortened and without the key.

type Reason = Extract<FailureReason, `engine-${string}`>;

const CODES: Partial<Record<Reason, ErrorCode>> = {
  'engine-model': 'model-missing',
  'engine-context': 'context-full',
};

const LONGEST_QUOTE = 300;

export type Asked = { host: string; key: string | null };

/** `said`: the engine's own message. */
export function engineError(
  reason: Reason,
  { host, key }: Asked,
  what: string,
  more: { said?: string | undefined; details?: Record<string, unknown>; cause?: unknown } = {},
): LonghandError {
  const said = quoted(more.said ?? '', key);
  return new LonghandError(CODES[reason] ?? 'remote-failed', `[remote] ${host}: ${what}${said && `: ${said}`}`, {
    details: { reason, host, ...(said && { said }), ...more.details },
    ...(more.cause !== undefined && { cause: more.cause }),
  });
}

/** One line of limited length. A key that the server echoes is removed, so that it never gets into a log. */
function quoted(said: string, key: string | null): string {
  const secrets = key === null ? [] : [key, key.slice(0, 8), key.slice(-8)].filter(({ length }) => length >= 4);
  const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), said);
  const line = hidden.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}

const TOO_LONG =
  /context[_ ](?:length|size|window)|maximum (?:context|sequence|input|prompt)|max(?:imum)?[_ ](?:model|seq|total|input)[_ ]?len|too (?:long|many tokens)|exceeds? .{0,60}(?:context|tokens)|n_ctx/i;
const NO_MODEL =
  /model[_ ]not[_ ](?:found|exist)|(?:model\b.{0,200}(?:not (?:found|exist|here|loaded|available)|does not exist|unknown|invalid))|(?:no such|unknown|invalid) model/is;

/** The error for an HTTP status. `retryAfter`: seconds, if given. */
export function statusError(asked: Asked, status: number, said: string, retryAfter: number | null): LonghandError {
  const what = `status ${status}`;
  if (status === 401 || status === 403) return engineError('engine-key', asked, what, { said });
  if (status === 429 || (status === 503 && retryAfter !== null))
    return engineError('engine-busy', asked, what, {
      said,
      ...(retryAfter !== null && { details: { seconds: retryAfter } }),
    });
  if (status < 500 && TOO_LONG.test(said)) return engineError('engine-context', asked, what, { said });
  if (status < 500 && NO_MODEL.test(said)) return engineError('engine-model', asked, what, { said });
  if (status === 404 || status === 405)
    return engineError('engine-foreign', asked, `${what}, nothing is there`, { said });
  return engineError(status < 500 ? 'engine-refused' : 'engine-error', asked, what, { said, details: { status } });
}

const UNREACHABLE =
  /^(?:ECONNREFUSED|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EADDRNOTAVAIL|EPERM|EACCES)$/;
const TLS = /CERT|^ERR_(?:SSL|TLS)_|SELF_SIGNED|UNABLE_TO_|^EPROTO$|HOSTNAME_MISMATCH/;
const LATE = /TIMEOUT|TIMEDOUT/;

/** The error for an exception of `fetch`, before or during a response. */
export function transportError(asked: Asked, error: unknown, began: boolean): LonghandError {
  const cause = causeOf(error);
  const code = String((cause as { code?: unknown } | null)?.code ?? '');
  const what = cause instanceof Error ? cause.message : String(cause);
  if (LATE.test(code)) return engineError('engine-timeout', asked, what, { cause: error });
  if (TLS.test(code)) return engineError('engine-tls', asked, what, { cause: error, details: { detail: code } });
  if (UNREACHABLE.test(code)) return engineError('engine-unreachable', asked, what, { cause: error });
  if (began) return engineError('engine-hung-up', asked, what, { cause: error });
  const otherProtocol =
    /^HPE_|^UND_ERR_(?!SOCKET)/.test(code) || (cause instanceof Error && cause.name === 'HTTPParserError');
  if (otherProtocol) return engineError('engine-foreign', asked, what, { cause: error });
  return engineError('engine-unreachable', asked, what, { cause: error });
}

function causeOf(error: unknown): unknown {
  let at = error;
  for (let depth = 0; depth < 5 && at instanceof Error && at.cause !== undefined; depth++) at = at.cause;
  return at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : at;
}
