import { setTimeout as wait } from 'node:timers/promises';
import { createValueCount } from '../../protocol/index.ts';
import { McpError } from './mcp-error.ts';

//  Limits on the answers of HTTP tool servers: the same maximum message size and number of values as for programs, and no
//  flooding by messages or by connections that are closed and reopened at once.

/** Bytes of one message, and of all messages within a second. */
const MAX_MESSAGE = 16 * 1024 * 1024;
const MAX_A_SECOND = 64 * 1024 * 1024;
/** Messages of streams within a second. */
const MAX_MESSAGES_A_SECOND = 1000;
/** Requests within a second; the next ones wait. */
const MAX_REQUESTS = 20;
const EMPTY_LINE = /\r\n\r\n|\n\n|\r\r/;

/** Wraps `asked` with these limits: a response that exceeds them is aborted and `flooded` is called, because nobody
 *  awaits a stream itself. */
export function boundedFetch(asked: typeof fetch, flooded: (why: McpError) => void): typeof fetch {
  const requests: number[] = [];
  let flow = { since: 0, bytes: 0, messages: 0 };

  const flows = (bytes: number, messages: number) => {
    const now = performance.now();
    if (now - flow.since > 1000) flow = { since: now, bytes: 0, messages: 0 };
    flow.bytes += bytes;
    flow.messages += messages;
    if (flow.bytes > MAX_A_SECOND || flow.messages > MAX_MESSAGES_A_SECOND) throw tooMuch();
  };

  const tooMuch = () => {
    const why = new McpError('too-much', 'it sent more than a call can ask for');
    flooded(why);
    return why;
  };

  /** An answer is one message; a stream has many, each ended by an empty line. */
  const metered = (stream: boolean) => {
    const values = createValueCount();
    let held = 0;
    /** The line breaks that the last message has come to: the empty line may stand across two pieces. */
    let carried = '';
    return new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        // Latin-1 is enough: JSON syntax is ASCII.
        const text = carried + Buffer.from(piece).toString('latin1');
        const parts = stream ? text.split(EMPTY_LINE) : [text];
        held -= carried.length;
        carried = stream ? (/[\r\n]{0,3}$/.exec(parts.at(-1) ?? '')?.[0] ?? '') : '';
        flows(piece.length, parts.length - 1);
        for (const [at, part] of parts.entries()) {
          if (at > 0) {
            held = 0;
            values.reset();
          }
          held += part.length;
          if (held > MAX_MESSAGE || values.exceeded(part)) throw tooMuch();
        }
        controller.enqueue(piece);
      },
    });
  };

  return async (input, init) => {
    const now = performance.now();
    requests.push(now);
    const before = requests.length > MAX_REQUESTS ? (requests.shift() ?? 0) : -1000;
    if (now - before < 1000) await wait(1000 - (now - before), undefined, { signal: init?.signal ?? undefined });
    const answer = await asked(input, init);
    if (!answer.body) return answer;
    const stream = /^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '');
    const { status, statusText, headers } = answer;
    return new Response(answer.body.pipeThrough(metered(stream)), { status, statusText, headers });
  };
}
