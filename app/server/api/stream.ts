import { guarded } from '../../protocol/index.ts';
import { giveUp } from './hang-up.ts';

//  Streaming responses. A queued client gets a keep-alive now and then, so that no proxy
//  times out; a client that disconnects cancels its answer.

const heartbeatMs = 10_000;

export type Framing = { contentType: string; heartbeat: string };

/** https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const serverSentEvents: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  heartbeat: ': waiting\n\n',
};
/** One JSON value per line. */
export const jsonLines: Framing = { contentType: 'application/x-ndjson; charset=utf-8', heartbeat: '' };

/** JSON escapes line breaks, so text cannot inject another event. */
export const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
export const line = (data: unknown): string => `${JSON.stringify(data)}\n`;

/** A response that streams `frames`. `hungUp` aborts when the client disconnects. */
export function streamed(
  { contentType, heartbeat }: Framing,
  frames: AsyncGenerator<string, void>,
  hungUp: AbortController,
): Response {
  const encoder = new TextEncoder();
  let beat: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (heartbeat === '') return;
      beat = setInterval(
        guarded(console.error, () => controller.enqueue(encoder.encode(heartbeat))),
        heartbeatMs,
      );
    },
    async pull(controller) {
      try {
        const { done, value } = await frames.next();
        if (!done) return controller.enqueue(encoder.encode(value));
        clearInterval(beat);
        controller.close();
      } catch (error) {
        clearInterval(beat);
        controller.error(error);
      }
    },
    async cancel() {
      clearInterval(beat);
      giveUp(hungUp);
      await frames.return();
    },
  });
  return new Response(body, { headers: { 'Content-Type': contentType, 'X-Accel-Buffering': 'no' } });
}
