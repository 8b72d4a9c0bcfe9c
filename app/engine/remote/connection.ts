import { setTimeout as wait } from 'node:timers/promises';
import { guarded, LonghandError, parseJson } from '../../protocol/index.ts';
import { addressInfoOf } from './address.ts';
import { type Asked, engineError, statusError, transportError } from './failures.ts';
import { eventsIn } from './sse.ts';

//  One request to a remote engine: only ever to the host that was added, whatever it answers.

/** How to reach an engine; `fetch` goes through the network log and the offline switch. */
export type Reach = { address: string; key: string | null; fetch: typeof fetch };

/** Timeouts for a list, for the first chunk of an answer (after a long prefill), and between two chunks. Tests use shorter ones. */
export type Timeouts = { listMs: number; firstMs: number; silenceMs: number };
export const TIMEOUTS: Timeouts = { listMs: 15_000, firstMs: 280_000, silenceMs: 120_000 };

/** Maximum bytes of a list or an error, and of a whole answer. */
const MAX_LIST = 8 * 1024 * 1024;
const MAX_SAID = 64 * 1024;
const MAX_STREAM = 128 * 1024 * 1024;
/** Retries of a busy engine, if its Retry-After is short. */
const MAX_RETRIES = 2;
const MAX_WAIT_S = 30;

const askedOf = ({ address, key }: Reach): Asked => ({ host: addressInfoOf(address).host, key });

/** Requests a JSON list. @throws LonghandError */
export async function askList(reach: Reach, path: string, signal: AbortSignal, { listMs }: Timeouts): Promise<unknown> {
  const clock = clockFor(signal);
  clock.within(listMs);
  try {
    const answer = await open(reach, path, null, clock);
    return jsonOf(await textIn(reach, answer, MAX_LIST, clock), askedOf(reach));
  } finally {
    clock.stop();
  }
}

/** The events of an answer, each as JSON. An engine that does not stream sends one.
 *  @throws LonghandError; the abort reason of `signal` if aborted */
export async function* askAnswer(
  reach: Reach,
  body: object,
  signal: AbortSignal,
  { firstMs, silenceMs }: Timeouts,
): AsyncGenerator<unknown, void, void> {
  const asked = askedOf(reach);
  const clock = clockFor(signal);
  clock.within(firstMs);
  try {
    const answer = await open(reach, '/chat/completions', body, clock);
    if (!/^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '')) {
      yield jsonOf(await textIn(reach, answer, MAX_LIST, clock), asked);
      return;
    }
    const flood = () => engineError('engine-flood', asked, 'it sent more than an answer can be');
    const pieces = bytesOf(reach, answer, MAX_STREAM, clock, flood);
    for await (const data of eventsIn(pieces, flood)) {
      // Time our consumer spends on an event does not count as silence of the engine.
      clock.rest();
      if (data.trim() === '[DONE]') return yield DONE;
      yield jsonOf(data, asked);
      clock.within(silenceMs);
    }
  } finally {
    clock.stop();
  }
}

/** The engine's end marker. */
export const DONE = Symbol('done');

type Clock = ReturnType<typeof clockFor>;

/** Aborts with the outer signal, or on timeout. */
function clockFor(outer: AbortSignal) {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let left = 0;
  const expire = guarded(console.error, () => late.abort(new Late(`nothing came for ${left / 1000} s`)));
  return {
    outer,
    late: late.signal,
    signal: AbortSignal.any([outer, late.signal]),
    within(ms: number) {
      clearTimeout(timer);
      left = ms;
      timer = setTimeout(expire, ms);
    },
    rest: () => clearTimeout(timer),
    /** Also aborts the rest of the response, which nobody reads any more. */
    stop() {
      clearTimeout(timer);
      late.abort(new Late('it is over'));
    },
  };
}

class Late extends Error {}

/** @throws LonghandError for every status but 2xx */
async function open(reach: Reach, path: string, body: object | null, clock: Clock): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const answer = await send(reach, path, body, clock);
    if (answer.ok) return answer;
    const error = await refusalOf(reach, answer, clock);
    const { reason, seconds } = error.details ?? {};
    const soon = reason === 'engine-busy' && typeof seconds === 'number' && seconds <= MAX_WAIT_S;
    if (!soon || body === null || tries === MAX_RETRIES) throw error;
    await wait(seconds * 1000, undefined, { signal: clock.signal }).catch(() => clock.outer.throwIfAborted());
  }
}

async function send(reach: Reach, path: string, body: object | null, clock: Clock): Promise<Response> {
  const headers: Record<string, string> = { accept: body ? 'text/event-stream, application/json' : 'application/json' };
  if (reach.key !== null) headers.authorization = `Bearer ${reach.key}`;
  if (body) headers['content-type'] = 'application/json';
  try {
    return await reach.fetch(`${reach.address}${path}`, {
      method: body ? 'POST' : 'GET',
      headers,
      ...(body && { body: JSON.stringify(body) }),
      // Only this host was allowed.
      redirect: 'manual',
      credentials: 'omit',
      signal: clock.signal,
    });
  } catch (error) {
    throw asThrown(reach, error, clock, false);
  }
}

async function refusalOf(reach: Reach, answer: Response, clock: Clock): Promise<LonghandError> {
  const asked = askedOf(reach);
  const { status, headers } = answer;
  if (status >= 300 && status < 400) {
    await answer.body?.cancel().catch(() => {});
    const to = URL.parse(headers.get('location') ?? '', reach.address)?.host ?? '';
    return engineError(
      'engine-redirect',
      asked,
      `status ${status}, to ${to || 'nowhere'}; redirects are not followed`,
      {
        details: { to: to.slice(0, 200) },
      },
    );
  }
  const said = await textIn(reach, answer, MAX_SAID, clock).catch(() => '');
  return statusError(asked, status, saidIn(said), secondsOf(headers.get('retry-after')));
}

/** The message of an error response, in OpenAI's format or another; '' for HTML. */
export function saidIn(text: string): string {
  if (/^\s*</.test(text)) return '';
  let value: unknown;
  try {
    value = parseJson(text, 'remote');
  } catch {
    return text;
  }
  return messageIn(value) ?? '';
}

/** The message of an error, in the formats in use: `{"error": {"message"}}`, `{"error": "…"}`, `{"detail"}`, `{"message"}`. */
export function messageIn(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return null;
  const { error, message, detail, code } = value as Record<string, unknown>;
  const found =
    messageIn(error) ?? messageIn(message) ?? (typeof detail === 'string' ? detail : detail && JSON.stringify(detail));
  if (typeof found !== 'string') return null;
  return typeof code === 'string' && !found.includes(code) ? `${found} (${code})` : found;
}

function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+(?:\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.ceil(Math.min(86_400, Math.max(0, seconds))) : null;
}

async function textIn(reach: Reach, answer: Response, most: number, clock: Clock): Promise<string> {
  const pieces: Uint8Array[] = [];
  const flood = () => engineError('engine-flood', askedOf(reach), 'its answer is larger than a list can be');
  for await (const piece of bytesOf(reach, answer, most, clock, flood)) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function* bytesOf(reach: Reach, answer: Response, most: number, clock: Clock, flood: () => Error) {
  let bytes = 0;
  if (!answer.body) return;
  try {
    for await (const piece of answer.body) {
      bytes += piece.length;
      if (bytes > most) throw flood();
      yield piece;
    }
  } catch (error) {
    throw asThrown(reach, error, clock, true);
  }
}

function asThrown(reach: Reach, error: unknown, { outer, late }: Clock, began: boolean): unknown {
  if (outer.aborted) return outer.reason;
  if (error instanceof LonghandError) return error;
  if (late.aborted) return engineError('engine-timeout', askedOf(reach), (late.reason as Error).message);
  return transportError(askedOf(reach), error, began);
}

/** @throws LonghandError `unreadable` */
function jsonOf(text: string, asked: Asked): unknown {
  try {
    return parseJson(text, 'remote');
  } catch (error) {
    throw engineError('engine-foreign', asked, 'what came is no JSON', { said: text.slice(0, 60), cause: error });
  }
}
