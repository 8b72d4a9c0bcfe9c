import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { AnswerPart, AnswerRequest, ConversationMessage, Inference, ServedModel } from '../../core/inference.ts';
import { type FinishReason, guarded, LonghandError, type SamplingSettings, type Usage } from '../../protocol/index.ts';
import type { Answers } from './answers.ts';
import { jsonOf } from './body.ts';
import { type Problem, problemOf, readBody } from './problems.ts';
import { serverSentEvents, sse, streamed } from './stream.ts';

//  The dialect of OpenAI: https://platform.openai.com/docs/api-reference (chat, embeddings, models)

const Text = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).transform((parts, context) =>
    parts
      .map(({ type, text }) => {
        if (text !== undefined && ['text', 'input_text', 'output_text'].includes(type)) return text;
        context.addIssue({ code: 'custom', message: `has a part of type "${type}"; only text can be read here` });
        return '';
      })
      .join(''),
  ),
]);

const Message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: Text.nullish().transform((text) => text ?? ''),
  reasoning_content: z.string().nullish(),
});

const absent = (what: string) =>
  z
    .union([z.null(), z.array(z.unknown()).max(0, `${what} are not supported yet`)], `${what} are not supported yet`)
    .optional();

const ChatBody = z.looseObject({
  model: z.string().min(1).max(500),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.number().int().min(0).max(1000).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().min(0.5).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  seed: z.number().int().nullish(),
  max_tokens: z.number().int().min(1).max(1_000_000).nullish(),
  max_completion_tokens: z.number().int().min(1).max(1_000_000).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
  n: z.literal(1, 'only one answer at a time is written').nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  tools: absent('tools'),
  functions: absent('functions'),
  logprobs: z.literal(false, 'log probabilities are not supported yet').nullish(),
  response_format: z.looseObject({ type: z.literal('text', 'only "text" is supported yet') }).nullish(),
});
type ChatBody = z.infer<typeof ChatBody>;

const EmbeddingsBody = z.looseObject({
  model: z.string().min(1).max(500),
  input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2048)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.null('the length of a vector is that of the model').optional(),
  /** Encoders that tell questions from passages: which of them this is. */
  input_type: z.enum(['query', 'passage']).nullish(),
});

export function openAi(inference: Inference, answers: Answers): Hono {
  const app = new Hono();
  app.onError((error) => problemResponse(problemOf(error)));

  app.get('/models', async (context) =>
    context.json({ object: 'list', data: (await inference.models()).map(modelObject) }),
  );
  app.get('/models/:id', async (context) => {
    const id = context.req.param('id');
    const found = (await inference.models()).find((model) => model.id === id);
    if (!found) throw new LonghandError('model-missing', `[model] "${id}" is not here`);
    return context.json(modelObject(found));
  });

  app.post('/chat/completions', async (context) => {
    const body = readBody(ChatBody, await jsonOf(context));
    const request = requestOf(body);
    const hungUp = hangUpOf(context);
    const base = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: body.model };
    if (body.stream) {
      const parts = answers.parts(request, hungUp.signal);
      // What cannot begin is told by its status, which is sent with the first piece.
      const first = await parts.next();
      const frames = chunks(base, first, parts, body.stream_options?.include_usage ?? false);
      return streamed(serverSentEvents, frames, hungUp);
    }
    const { thinking, text, end } = await answers.whole(request, hungUp.signal);
    const message = {
      role: 'assistant',
      content: text,
      ...(thinking !== '' && { reasoning_content: thinking }),
      refusal: null,
    };
    return context.json({
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(end.reason) }],
      usage: usageObject(end.usage),
    });
  });

  app.post('/embeddings', async (context) => {
    const { model, input, encoding_format, input_type } = readBody(EmbeddingsBody, await jsonOf(context));
    const texts = typeof input === 'string' ? [input] : input;
    const { vectors, tokens } = await inference.embed(model, texts, input_type ?? 'passage');
    const written = (vector: Float32Array) =>
      encoding_format === 'base64'
        ? Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
        : [...vector];
    return context.json({
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: written(vector) })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
  });

  app.all('*', (context) => {
    throw new LonghandError('not-found', `[path] ${context.req.method} ${context.req.path} is not served`);
  });
  return app;
}

/** Aborts when the client goes away before its answer is whole. */
export function hangUpOf(context: Context): AbortController {
  const controller = new AbortController();
  context.req.raw.signal.addEventListener(
    'abort',
    guarded(console.error, () => controller.abort()),
  );
  return controller;
}

async function* chunks(
  base: object,
  first: IteratorResult<AnswerPart, void>,
  parts: AsyncGenerator<AnswerPart, void>,
  withUsage: boolean,
): AsyncGenerator<string, void> {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    sse({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  try {
    yield chunk({ role: 'assistant', content: '' });
    for (let next = first; !next.done; next = await parts.next()) {
      const part = next.value;
      if (part.type === 'text') {
        yield chunk(part.kind === 'answer' ? { content: part.text } : { reasoning_content: part.text });
      } else if (part.type === 'end') {
        yield chunk({}, finishReason(part.reason));
        if (withUsage) {
          yield sse({ ...base, object: 'chat.completion.chunk', choices: [], usage: usageObject(part.usage) });
        }
      }
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    // The status is sent already: the problem comes as an event, and the answer ends without its last word.
    yield sse(problemObject(problemOf(error)));
  } finally {
    await parts.return();
  }
}

function requestOf(body: ChatBody): AnswerRequest {
  const { stop, reasoning_effort } = body;
  return {
    model: body.model,
    messages: conversationOf(body.messages),
    thinking: reasoning_effort == null ? null : reasoning_effort !== 'none',
    thinkingTokens: null,
    sampling: samplingOf(body),
    stops: stop == null ? [] : typeof stop === 'string' ? [stop] : stop,
  };
}

/** Instructions at the beginning are one message: most templates know only one. */
function conversationOf(messages: ChatBody['messages']): ConversationMessage[] {
  const begin = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const instructions = messages.slice(0, begin === -1 ? messages.length : begin);
  const rest = messages.slice(instructions.length);
  const text = instructions.map(({ content }) => content).join('\n\n');
  return [
    ...(text === '' ? [] : [{ role: 'system' as const, text, thinking: '' }]),
    ...rest.map(({ role, content, reasoning_content }) => ({
      role: role === 'developer' ? ('system' as const) : role,
      text: content,
      thinking: reasoning_content ?? '',
    })),
  ];
}

function samplingOf(body: ChatBody): SamplingSettings {
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const given = {
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    minP: body.min_p,
    repetitionPenalty: body.repetition_penalty,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    seed: body.seed == null ? null : Math.abs(body.seed) % 2 ** 31,
    maxTokens,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as SamplingSettings;
}

const finishReason = (reason: FinishReason): string =>
  reason === 'length' || reason === 'context' ? 'length' : 'stop';

export const usageObject = ({ promptTokens, cachedTokens, thinkingTokens, answerTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: thinkingTokens + answerTokens,
  total_tokens: promptTokens + thinkingTokens + answerTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: thinkingTokens },
});

const modelObject = ({ id, name, kind, entry }: ServedModel) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'longhand',
  name,
  kind,
  context_length: entry.description?.contextLength ?? null,
});

const problemObject = ({ status, code, message }: Problem) => ({
  error: {
    message,
    type: status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error',
    param: null,
    code: CODES[code] ?? code.replace(/-/g, '_'),
  },
});

const CODES: Partial<Record<Problem['code'], string>> = {
  'model-missing': 'model_not_found',
  'context-full': 'context_length_exceeded',
};

export const problemResponse = (problem: Problem): Response =>
  Response.json(problemObject(problem), {
    status: problem.status,
    ...(problem.status === 429 && { headers: { 'Retry-After': '2' } }),
  });
