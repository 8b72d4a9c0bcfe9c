import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import type {
  AnswerPart,
  AnswerRequest,
  ConversationMessage,
  Inference,
  Tool,
  ToolCall,
} from '../../core/inference.ts';
import type { FinishReason, Usage } from '../../protocol/index.ts';
import { answerGrammar, anyCall, type Choice } from './answer-grammar.ts';
import type { Answers } from './answers.ts';
import { jsonOf } from './body.ts';
import { hangUpOf } from './hang-up.ts';
import { MAX_PICTURES, ofBase64 } from './pictures.ts';
import { headOf, type Problem, problemOf, readBody } from './problems.ts';
import { serverSentEvents, sse, streamed } from './stream.ts';

//  Anthropic's API: https://docs.anthropic.com/en/api/messages

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  /** Of `image`. */
  source: z.looseObject({ type: z.string(), data: z.string().optional() }).optional(),
  /** Of `tool_use`. */
  id: z.string().max(200).optional(),
  name: z.string().max(200).optional(),
  input: z.unknown().optional(),
  /** Of `tool_result`. */
  tool_use_id: z.string().max(200).optional(),
  content: z
    .union([
      z.string(),
      z.array(z.looseObject({ type: z.literal('text', 'only text can be read here'), text: z.string() })),
    ])
    .optional(),
});
type Block = z.infer<typeof Block>;
const pictureIn = ({ source }: Block): Uint8Array | null =>
  source?.type === 'base64' ? ofBase64(source.data ?? '') : null;

const Content = z.union([
  z.string().transform((text): z.infer<typeof Block>[] => [{ type: 'text', text }]),
  z.array(Block),
]);
const Blocks = Content.superRefine((blocks, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  for (const block of blocks) {
    if (block.type === 'image') {
      if (pictureIn(block) === null) refuse('has a picture that is not given in base64; addresses are not fetched');
    } else if (!['text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'].includes(block.type)) {
      refuse(`has a block of type "${block.type}"; text and pictures can be read here`);
    }
  }
  const pictures = blocks.filter(({ type }) => type === 'image').length;
  if (pictures > MAX_PICTURES) refuse(`has ${pictures} pictures, at most ${MAX_PICTURES} are allowed`);
});

const CountBody = z.looseObject({
  model: z.string().min(1).max(500),
  system: Blocks.refine(
    (blocks) => blocks.every(({ type }) => type !== 'image'),
    'only a user shows pictures',
  ).optional(),
  messages: z
    .array(
      z
        .looseObject({ role: z.enum(['user', 'assistant', 'system']), content: Blocks })
        .refine(
          ({ role, content }) => role === 'user' || content.every(({ type }) => type !== 'image'),
          'only a user shows pictures',
        ),
    )
    .min(1),
  tools: z
    .array(
      z.looseObject({
        type: z.literal('custom', 'only tools of your own can be called here').optional(),
        name: z.string().min(1).max(200),
        description: z.string().optional(),
        input_schema: z.unknown(),
        strict: z.boolean().optional(),
      }),
    )
    .max(128)
    .optional(),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'none', 'any', 'tool']),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().optional(),
    })
    .optional(),
  mcp_servers: z.array(z.unknown()).max(0, 'tool servers are not connected to here; offer their tools').optional(),
  thinking: z
    .looseObject({
      type: z.enum(['enabled', 'disabled', 'adaptive']),
      budget_tokens: z.number().int().min(1).optional(),
    })
    .optional(),
});

const MessagesBody = CountBody.extend({
  max_tokens: z.number().int().min(1).max(1_000_000),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.number().int().min(0).max(1000).optional(),
  stop_sequences: z.array(z.string()).max(16).optional(),
  output_config: z
    .looseObject({
      format: z.looseObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }).nullish(),
    })
    .optional(),
});

export function anthropic(inference: Inference, answers: Answers): Hono {
  const app = new Hono();
  app.onError((error) => anthropicProblem(problemOf(error)));

  app.post('/', async (context) => {
    const body = readBody(MessagesBody, await jsonOf(context));
    const hungUp = hangUpOf(context);
    const { thinking, ...conversation } = conversationOf(body);
    const request: AnswerRequest = {
      ...conversation,
      thinking,
      thinkingTokens: body.thinking?.budget_tokens ?? null,
      sampling: {
        maxTokens: body.max_tokens,
        ...(body.temperature !== undefined && { temperature: body.temperature }),
        ...(body.top_p !== undefined && { topP: body.top_p }),
        ...(body.top_k !== undefined && { topK: body.top_k }),
      },
      stops: body.stop_sequences ?? [],
      grammar: answerGrammar({
        tools: conversation.tools,
        choice: choiceOf(body.tool_choice),
        schema: body.output_config?.format?.schema,
        most: body.tool_choice?.disable_parallel_tool_use ? 1 : null,
      }),
    };
    const id = `msg_${randomUUID().replace(/-/g, '')}`;
    const message = { id, type: 'message', role: 'assistant', model: body.model };
    if (body.stream) {
      const parts = answers.parts({ ...request, callsInPieces: true }, hungUp.signal);
      const first = await parts.next();
      return streamed(serverSentEvents, events(message, first, parts), hungUp);
    }
    const whole = await answers.whole(request, hungUp.signal);
    const content = [
      ...(whole.thinking === '' ? [] : [{ type: 'thinking', thinking: whole.thinking, signature: '' }]),
      ...(whole.text === '' && whole.calls.length > 0 ? [] : [{ type: 'text', text: whole.text }]),
      ...whole.calls.map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: JSON.parse(call.arguments),
      })),
    ];
    const { usage } = whole.end;
    return context.json({
      ...message,
      content,
      ...stopOf(whole.end),
      usage: usageObject(usage),
    });
  });

  app.post('/count_tokens', async (context) => {
    const body = readBody(CountBody, await jsonOf(context));
    return context.json({ input_tokens: await inference.count(conversationOf(body)) });
  });
  return app;
}

async function* events(
  message: object,
  first: IteratorResult<AnswerPart, void>,
  parts: AsyncGenerator<AnswerPart, void>,
): AsyncGenerator<string, void> {
  const say = (type: string, data: object) => sse({ type, ...data }, type);
  let index = -1;
  let open: 'thinking' | 'answer' | null = null;
  const close = () => (open === null ? '' : say('content_block_stop', { index }));
  try {
    const prompt = first.value?.type === 'prompt' ? first.value : { tokens: 0, cached: 0 };
    const usage = usageObject({
      promptTokens: prompt.tokens,
      cachedTokens: prompt.cached,
      thinkingTokens: 0,
      answerTokens: 0,
    });
    yield say('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } });
    yield say('ping', {});
    for (let next = first; !next.done; next = await parts.next()) {
      const part = next.value;
      if (part.type === 'text') {
        if (open !== part.kind) {
          yield close();
          open = part.kind;
          index++;
          const content_block =
            open === 'answer' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
          yield say('content_block_start', { index, content_block });
        }
        const delta =
          part.kind === 'answer'
            ? { type: 'text_delta', text: part.text }
            : { type: 'thinking_delta', thinking: part.text };
        yield say('content_block_delta', { index, delta });
      } else if (part.type === 'call-begin') {
        yield close();
        open = null;
        index++;
        const content_block = { type: 'tool_use', id: part.id, name: part.name, input: {} };
        yield say('content_block_start', { index, content_block });
      } else if (part.type === 'call-arguments') {
        yield say('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: part.text } });
      } else if (part.type === 'call-end') {
        yield say('content_block_stop', { index });
      } else if (part.type === 'end') {
        yield close();
        yield say('message_delta', { delta: stopOf(part), usage: usageObject(part.usage) });
      }
    }
    yield say('message_stop', {});
  } catch (error) {
    yield say('error', problemObject(problemOf(error)));
  } finally {
    await parts.return();
  }
}

type Conversation = Pick<AnswerRequest, 'model' | 'messages' | 'tools' | 'thinking'>;

function conversationOf(body: z.infer<typeof CountBody>): Conversation {
  const { model, system, messages, thinking } = body;
  const instructions = textOf(system ?? []);
  const said = messages.flatMap(messagesOf);
  return {
    model,
    messages: instructions === '' ? said : [{ role: 'system', text: instructions, thinking: '' }, ...said],
    tools: body.tool_choice?.type === 'none' ? [] : (body.tools ?? []).map(toolOf),
    thinking: thinking === undefined ? null : thinking.type !== 'disabled',
  };
}

function choiceOf(choice: z.infer<typeof CountBody>['tool_choice']): Choice {
  if (choice === undefined) return anyCall;
  if (choice.type === 'tool') return { mode: 'required', only: [choice.name ?? ''] };
  return { mode: choice.type === 'any' ? 'required' : choice.type, only: null };
}

/** In this API tool results are part of a user message; here each becomes a separate message before the user's text. */
function messagesOf({
  role,
  content,
}: {
  role: 'user' | 'assistant' | 'system';
  content: Block[];
}): ConversationMessage[] {
  const results = content.filter(({ type }) => type === 'tool_result');
  const calls = content.filter(({ type }) => type === 'tool_use');
  const text = textOf(content);
  const pictures = content.flatMap((block) => (block.type === 'image' ? (pictureIn(block) ?? []) : []));
  const message: ConversationMessage = {
    role,
    text,
    ...(pictures.length > 0 && { pictures }),
    thinking: content.map((block) => block.thinking ?? '').join(''),
    ...(calls.length > 0 && { calls: calls.map(callOf) }),
  };
  const silent = text === '' && pictures.length === 0 && results.length > 0;
  return [...results.map(resultOf), ...(silent ? [] : [message])];
}

const callOf = ({ id, name = '', input }: Block): ToolCall => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: input ?? {} },
});

const resultOf = ({ tool_use_id, content = '' }: Block): ConversationMessage => ({
  role: 'tool',
  text: typeof content === 'string' ? content : content.map(({ text }) => text).join('\n'),
  thinking: '',
  answers: tool_use_id === undefined ? {} : { callId: tool_use_id },
});

const toolOf = ({
  name,
  description,
  input_schema,
  strict,
}: {
  name: string;
  description?: string | undefined;
  input_schema?: unknown;
  strict?: boolean | undefined;
}): Tool => ({
  type: 'function',
  function: {
    name,
    ...(description !== undefined && { description }),
    parameters: input_schema,
    ...(strict !== undefined && { strict }),
  },
});

const textOf = (blocks: { type: string; text?: string | undefined }[]): string =>
  blocks.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join('');

const STOP: Partial<Record<FinishReason, string>> = {
  length: 'max_tokens',
  context: 'model_context_window_exceeded',
  tool: 'tool_use',
};
const stopOf = ({ reason, stop }: { reason: FinishReason; stop: string | null }) => ({
  stop_reason: STOP[reason] ?? (stop === null ? 'end_turn' : 'stop_sequence'),
  stop_sequence: STOP[reason] === undefined ? stop : null,
});

/** Cached tokens are counted separately in this API. */
const usageObject = ({ promptTokens, cachedTokens, miss, thinkingTokens, answerTokens }: Usage) => ({
  input_tokens: promptTokens - cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cachedTokens,
  ...(miss && { miss }),
  output_tokens: thinkingTokens + answerTokens,
});

const TYPES: Partial<Record<Problem['status'], string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
};

const problemObject = ({ status, message }: Problem) => ({
  type: 'error',
  error: { type: TYPES[status] ?? 'invalid_request_error', message },
});

export const anthropicProblem = (problem: Problem): Response => Response.json(problemObject(problem), headOf(problem));
