import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { AnswerPart } from '../../../core/inference.ts';
import { type FinishReason, LonghandError, type Usage } from '../../../protocol/index.ts';
import type { Admitted } from '../access-control.ts';
import type { Answers } from '../answers.ts';
import { jsonOf } from '../body.ts';
import { hangUpOf } from '../hang-up.ts';
import { problemOf, readBody } from '../problems.ts';
import { serverSentEvents, sse, streamed } from '../stream.ts';
import { problemResponse } from './openai-objects.ts';
import { asInput, type KeptItem, kept, listed } from './response-items.ts';
import { replayOf } from './response-replay.ts';
import { createResponseStore } from './response-store.ts';
import { createResponseWriter, type Event, type OutputItem } from './response-writer.ts';
import { type AskedItem, type Item, ResponsesBody, requestOfItems } from './responses-body.ts';

//  OpenAI's Responses API. Responses are stored for a while, so that the next one can continue from their id.

export function responses(answers: Answers): Hono<Admitted> {
  const app = new Hono<Admitted>();
  const store = createResponseStore();
  app.onError((error) => problemResponse(problemOf(error)));

  const found = ({ var: { caller } }: Context<Admitted>, id: string, where: string) => {
    const stored = store.get(id, caller);
    if (stored) return stored;
    throw new LonghandError(
      'not-found',
      `[${where}] "${id}" is not here: responses are kept in memory, the latest ones only, and not with "store": false`,
    );
  };

  /** Resolves references to earlier items. */
  function referred(items: readonly AskedItem[], caller: string): Item[] {
    const known = items.some(({ type }) => type === 'item_reference') ? store.itemsOf(caller) : null;
    return items.map((item, index) => {
      if (item.type !== 'item_reference') return item;
      const one = known?.get(item.id);
      if (one) return one;
      throw new LonghandError('not-found', `[input.${index}] "${item.id}" is no item of a response that is kept`);
    });
  }

  app.post('/', async (context) => {
    const body = readBody(ResponsesBody, await jsonOf(context));
    const { previous_response_id: previous } = body;
    const earlier = previous == null ? [] : found(context, previous, 'previous_response_id').items;
    const said = referred(body.input ?? [], context.var.caller).map(kept);
    const hungUp = hangUpOf(context);
    const parts = answers.parts({ ...requestOfItems(body, [...earlier, ...said]), callsInPieces: true }, hungUp.signal);
    const first = await parts.next();
    const keep = (response: Response) => {
      if (body.store === false) return;
      store.keep({
        caller: context.var.caller,
        response,
        asked: earlier.length + said.length,
        // A call that was cut off is nothing that could be answered.
        items: [...earlier, ...said, ...response.output.filter(isWhole).map(asInput)],
      });
    };
    const events = written(body, first, parts, keep);
    if (body.stream) return streamed(serverSentEvents, frames(events), hungUp);
    for await (const { response } of events) {
      const { status } = response ?? {};
      if (response && status !== 'in_progress') return context.json(response);
    }
    throw new Error('[api] a response without an end');
  });

  app.get('/:id', (context) => {
    const { stream, starting_after: after } = readBody(RetrieveQuery, context.req.query());
    const { response } = found(context, context.req.param('id'), 'response');
    if (!stream) return context.json(response);
    const events = replayOf(response).slice(after === undefined ? 0 : after + 1);
    return streamed(serverSentEvents, frames(events), hangUpOf(context));
  });
  app.get('/:id/input_items', (context) => {
    const { items, asked } = found(context, context.req.param('id'), 'response');
    return context.json(pageOf(items.slice(0, asked), readBody(PageQuery, context.req.query())));
  });
  app.delete('/:id', (context) => {
    const { id } = found(context, context.req.param('id'), 'response').response;
    store.forget(id);
    return context.json({ id, object: 'response', deleted: true });
  });
  return app;
}

const RetrieveQuery = z
  .looseObject({
    stream: z
      .enum(['true', 'false'])
      .default('false')
      .transform((said) => said === 'true'),
    starting_after: z.coerce.number().int().min(0).optional(),
  })
  .refine(({ stream, starting_after }) => stream || starting_after === undefined, {
    path: ['starting_after'],
    error: 'needs "stream": true',
  });

const PageQuery = z.looseObject({
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().optional(),
});

/** @throws LonghandError `not-found` if `after` is not among them */
function pageOf(items: readonly KeptItem[], { order, limit, after }: z.infer<typeof PageQuery>) {
  const ordered = order === 'asc' ? items : items.toReversed();
  const begin = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && begin === 0) {
    throw new LonghandError('not-found', `[after] "${after}" is none of the items`);
  }
  const page = ordered.slice(begin, begin + limit);
  return {
    object: 'list',
    data: page.map(listed),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: begin + limit < ordered.length,
  };
}

async function* frames(events: Iterable<Numbered> | AsyncIterable<Numbered>): AsyncGenerator<string, void> {
  for await (const event of events) yield sse(event, event.type);
}

type Response = ReturnType<typeof responseOf>;
type Numbered = Event & { sequence_number: number };
type Told = Numbered & { response?: Response };

const isWhole = ({ type, status }: OutputItem): boolean => type !== 'function_call' || status === 'completed';

/** All events of a response. Errors before the first token have been thrown already; later
 *  errors become a final event. */
async function* written(
  body: ResponsesBody,
  first: IteratorResult<AnswerPart, void>,
  parts: AsyncGenerator<AnswerPart, void>,
  keep: (response: Response) => void,
): AsyncGenerator<Told, void> {
  const writer = createResponseWriter();
  const base = baseOf(body);
  let count = 0;
  const say = (event: Event): Numbered => ({ ...event, sequence_number: count++ });
  const told = (type: string, response: Response): Told => ({ ...say({ type }), response });
  try {
    yield told('response.created', responseOf(base, 'in_progress', []));
    yield told('response.in_progress', responseOf(base, 'in_progress', []));
    for (let next = first; !next.done; next = await parts.next()) {
      const part = next.value;
      if (part.type !== 'end') {
        yield* writer.push(part).map(say);
        continue;
      }
      const status = statusOf(part.reason);
      yield* writer.end(status).map(say);
      const incomplete_details = status === 'incomplete' ? { reason: 'max_output_tokens' } : null;
      const response = responseOf(base, status, writer.output, { usage: usageObject(part.usage), incomplete_details });
      keep(response);
      yield told(`response.${status}`, response);
    }
  } catch (error) {
    const { message } = problemOf(error);
    const failed = responseOf(base, 'failed', writer.output, { error: { code: 'server_error', message } });
    yield told('response.failed', failed);
  } finally {
    await parts.return();
  }
}

const statusOf = (reason: FinishReason): 'completed' | 'incomplete' =>
  reason === 'length' || reason === 'context' ? 'incomplete' : 'completed';

type Base = ReturnType<typeof baseOf>;

/** The fields that do not change during the stream. */
const baseOf = (body: ResponsesBody) => ({
  id: `resp_${randomUUID().replace(/-/g, '')}`,
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  model: body.model,
  instructions: body.instructions ?? null,
  previous_response_id: body.previous_response_id ?? null,
  store: body.store ?? true,
  background: false,
  temperature: body.temperature ?? null,
  top_p: body.top_p ?? null,
  max_output_tokens: body.max_output_tokens ?? null,
  tools: body.tools ?? [],
  tool_choice: body.tool_choice ?? 'auto',
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  max_tool_calls: body.max_tool_calls ?? null,
  text: { format: body.text?.format ?? { type: 'text' } },
  reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
  top_logprobs: body.top_logprobs ?? 0,
  truncation: 'disabled',
  metadata: body.metadata ?? {},
});

const responseOf = (
  base: Base,
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed',
  output: readonly OutputItem[],
  more: { usage?: object; error?: object; incomplete_details?: object | null } = {},
) => ({ ...base, status, error: null, incomplete_details: null, usage: null, ...more, output: [...output] });

const usageObject = ({ promptTokens, cachedTokens, miss, thinkingTokens, answerTokens }: Usage) => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  ...(miss && { miss }),
  output_tokens: thinkingTokens + answerTokens,
  output_tokens_details: { reasoning_tokens: thinkingTokens },
  total_tokens: promptTokens + thinkingTokens + answerTokens,
});
