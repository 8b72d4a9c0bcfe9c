import { Hono } from 'hono';
import type { z } from 'zod';
import type {
  AnswerPart,
  AnswerRequest,
  Inference,
  ModelInMemory,
  ServedModel,
  TokenScore,
  ToolCall,
} from '../../core/inference.ts';
import { type FinishReason, LonghandError, type SamplingSettings } from '../../protocol/index.ts';
import { answerGrammar, anyCall, anyObject } from './answer-grammar.ts';
import type { Answers } from './answers.ts';
import { jsonOf } from './body.ts';
import { hangUpOf } from './hang-up.ts';
import { type Asked, ChatBody, EmbedBody, GenerateBody, ShowBody } from './ollama-body.ts';
import { scoreObject } from './openai/logprobs.ts';
import { headOf, type Problem, problemOf, readBody } from './problems.ts';
import { jsonLines, line, streamed } from './stream.ts';

//  Ollama's API: https://github.com/ollama/ollama/blob/main/docs/api.md

export function ollama(inference: Inference, answers: Answers, version: string): Hono {
  const app = new Hono();
  app.onError((error) => ollamaProblem(problemOf(error)));

  app.get('/version', (context) => context.json({ version }));
  app.get('/tags', async (context) => context.json({ models: (await inference.models()).map(tagOf) }));
  app.get('/ps', async (context) => {
    const loaded = await inference.inMemory();
    return context.json({ models: loaded ? [loadedOf(loaded)] : [] });
  });
  app.post('/show', async (context) => {
    const { model, name } = readBody(ShowBody, await jsonOf(context));
    const wanted = (model ?? name ?? '').replace(/:latest$/, '');
    const found = (await inference.models()).find(({ id }) => id === wanted);
    if (!found) throw new LonghandError('model-missing', `[model] "${wanted}" is not here`);
    const { contextLength = 0, family = '' } = found.entry?.description ?? {};
    return context.json({
      details: tagOf(found).details,
      model_info: { 'general.architecture': family, [`${family}.context_length`]: contextLength },
      capabilities: await capabilitiesOf(found),
      modified_at: tagOf(found).modified_at,
    });
  });

  app.post('/chat', async (context) => {
    const body = readBody(ChatBody, await jsonOf(context));
    const messages = body.messages.map(({ role, content, thinking = '', images, tool_calls, tool_name }) => ({
      role,
      text: content,
      ...(images && images.length > 0 && { pictures: images }),
      thinking,
      ...(tool_calls && { calls: tool_calls.map(callOf) }),
      ...(role === 'tool' && { answers: tool_name === undefined ? {} : { name: tool_name } }),
    }));
    const shape: Shape = (text, thinking, calls) => ({
      message: {
        role: 'assistant',
        content: text,
        ...(thinking !== '' && { thinking }),
        ...(calls.length > 0 && { tool_calls: calls.map(callObject) }),
      },
    });
    return respond(body, messages, shape, hangUpOf(context));
  });
  app.post('/generate', async (context) => {
    const body = readBody(GenerateBody, await jsonOf(context));
    const shape: Shape = (text, thinking) => ({ response: text, ...(thinking !== '' && { thinking }) });
    const { raw = false, suffix = '' } = body;
    if ((raw && body.prompt !== '') || suffix !== '') {
      if ((body.images ?? []).length > 0) {
        throw new LonghandError('bad-request', '[images] cannot be combined with raw or suffix');
      }
      const request = { ...requestOf(body, []), raw: { text: body.prompt, suffix: suffix || null }, thinking: false };
      return written(body, request, shape, hangUpOf(context));
    }
    const messages = [
      ...(body.system === undefined ? [] : [{ role: 'system' as const, text: body.system, thinking: '' }]),
      {
        role: 'user' as const,
        text: body.prompt,
        thinking: '',
        ...(body.images && body.images.length > 0 && { pictures: body.images }),
      },
    ];
    return respond(body, messages, shape, hangUpOf(context));
  });
  app.post('/embed', async (context) => {
    const { model, input } = readBody(EmbedBody, await jsonOf(context));
    const { vectors, tokens } = await inference.embed(model, input, 'passage', hangUpOf(context).signal);
    return context.json({ model, embeddings: vectors.map((vector) => [...vector]), prompt_eval_count: tokens });
  });

  /** Clients offer tools, thinking and pictures to models that name them here. */
  async function capabilitiesOf({ id, kind, entry }: ServedModel): Promise<string[]> {
    const able = kind === 'chat' ? await inference.abilities(id) : {};
    const all = { vision: entry?.description?.vision, ...able };
    return [CAPABILITIES[kind], ...Object.entries(all).flatMap(([name, has]) => (has ? [name] : []))];
  }

  async function respond(
    body: z.infer<typeof Asked>,
    messages: AnswerRequest['messages'],
    shape: Shape,
    hungUp: AbortController,
  ): Promise<Response> {
    // In this API an empty request preloads the model.
    if (messages.length === 0 || messages.every(({ text }) => text === '')) {
      const leaves = body.keep_alive === 0;
      await (leaves ? inference.unload(body.model) : inference.load(body.model, body.keep_alive));
      return Response.json({
        ...stamp(body.model),
        ...shape('', '', []),
        done: true,
        done_reason: leaves ? 'unload' : 'load',
      });
    }
    return written(body, requestOf(body, messages), shape, hungUp);
  }

  async function written(
    body: z.infer<typeof Asked>,
    request: AnswerRequest,
    shape: Shape,
    hungUp: AbortController,
  ): Promise<Response> {
    if (body.stream === false) {
      const { text, thinking, calls, scores, end } = await answers.whole(request, hungUp.signal);
      return Response.json({ ...stamp(body.model), ...shape(text, thinking, calls), ...scored(scores), ...endOf(end) });
    }
    const parts = answers.parts(request, hungUp.signal);
    const first = await parts.next();
    return streamed(jsonLines, lines(body.model, shape, first, parts), hungUp);
  }
  return app;
}

async function* lines(
  model: string,
  shape: Shape,
  first: IteratorResult<AnswerPart, void>,
  parts: AsyncGenerator<AnswerPart, void>,
): AsyncGenerator<string, void> {
  try {
    for (let next = first; !next.done; next = await parts.next()) {
      const part = next.value;
      if (part.type === 'text') {
        const [text, thinking] = part.kind === 'answer' ? [part.text, ''] : ['', part.text];
        yield line({ ...stamp(model), ...shape(text, thinking, []), ...scored(part.scores), done: false });
      } else if (part.type === 'call') {
        yield line({ ...stamp(model), ...shape('', '', [part]), done: false });
      } else if (part.type === 'end') yield line({ ...stamp(model), ...shape('', '', []), ...endOf(part) });
    }
  } catch (error) {
    yield line({ error: problemOf(error).message });
  } finally {
    await parts.return();
  }
}

const scored = (scores: readonly TokenScore[] = []) => (scores.length > 0 ? { logprobs: scores.map(scoreObject) } : {});

type CallPart = Extract<AnswerPart, { type: 'call' }>;
/** Formats a chunk of an answer for the endpoint. */
type Shape = (text: string, thinking: string, calls: readonly CallPart[]) => object;

const callObject = ({ name, arguments: given }: CallPart) => ({ function: { name, arguments: JSON.parse(given) } });

const callOf = ({
  function: { name, arguments: given },
}: {
  function: { name: string; arguments?: unknown };
}): ToolCall => ({
  type: 'function',
  function: { name, arguments: given },
});

const stamp = (model: string) => ({ model, created_at: new Date().toISOString() });

function requestOf(body: z.infer<typeof Asked>, messages: AnswerRequest['messages']): AnswerRequest {
  const options = body.options ?? {};
  const given = {
    temperature: options.temperature,
    topK: options.top_k,
    topP: options.top_p,
    minP: options.min_p,
    repetitionPenalty: options.repeat_penalty,
    presencePenalty: options.presence_penalty,
    frequencyPenalty: options.frequency_penalty,
    seed: options.seed === undefined ? undefined : Math.abs(options.seed) % 2 ** 31,
    maxTokens: options.num_predict !== undefined && options.num_predict > 0 ? options.num_predict : undefined,
  };
  return {
    model: body.model,
    messages,
    tools: body.tools ?? [],
    thinking: body.think == null ? null : body.think !== false,
    thinkingTokens: null,
    sampling: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as SamplingSettings,
    stops: options.stop ?? [],
    logprobs: body.logprobs ? (body.top_logprobs ?? 0) : null,
    ...(body.keep_alive !== undefined && { keepMs: body.keep_alive }),
    grammar: answerGrammar({ tools: body.tools ?? [], choice: anyCall, schema: schemaOf(body.format) }),
  };
}

/** undefined: any text. */
function schemaOf(format: z.infer<typeof Asked>['format']): unknown {
  if (format == null || format === '') return undefined;
  return format === 'json' ? anyObject : format;
}

const nanoseconds = (ms: number): number => Math.round(ms * 1e6);

const doneReason = (reason: FinishReason): string => (reason === 'length' || reason === 'context' ? 'length' : 'stop');

const endOf = ({ reason, usage, timings }: Extract<AnswerPart, { type: 'end' }>) => ({
  done: true,
  done_reason: doneReason(reason),
  total_duration: nanoseconds(timings.totalMs),
  load_duration: 0,
  prompt_eval_count: usage.promptTokens,
  prompt_eval_duration: nanoseconds(timings.prefillMs),
  eval_count: usage.thinkingTokens + usage.answerTokens,
  eval_duration: nanoseconds(timings.decodeMs),
});

const tagOf = ({ id, entry }: ServedModel) => ({
  name: id,
  model: id,
  modified_at: new Date(entry?.lastUsedAt ?? 0).toISOString(),
  size: entry?.description?.weightBytes ?? 0,
  digest: '',
  details: {
    format: entry?.description?.container ?? '',
    family: entry?.description?.family ?? '',
    parameter_size: String(entry?.description?.parameters ?? ''),
    quantization_level: '',
  },
});

/** The expiry of a model that stays for ever: clients expect a date. */
const FOREVER = '2318-01-01T00:00:00.000Z';

const loadedOf = ({ model, bytes, contextLength, expiresAt }: ModelInMemory) => ({
  ...tagOf(model),
  size: bytes,
  size_vram: bytes,
  context_length: contextLength,
  expires_at: expiresAt === null ? FOREVER : new Date(expiresAt).toISOString(),
});

const CAPABILITIES = { chat: 'completion', encoder: 'embedding', ranker: 'rerank' };

export const ollamaProblem = (problem: Problem): Response => Response.json({ error: problem.message }, headOf(problem));
