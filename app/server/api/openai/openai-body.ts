import { z } from 'zod';
import type { AnswerRequest, LogitBias as Bias, ConversationMessage, Tool, ToolCall } from '../../../core/inference.ts';
import { LonghandError, parseJson, type SamplingSettings } from '../../../protocol/index.ts';
import { answerGrammar, anyCall, anyObject, type Choice } from '../answer-grammar.ts';
import { MAX_PICTURES, NOT_FETCHED, ofDataUrl } from '../pictures.ts';

//  Request bodies of OpenAI's API, converted to our own requests: https://platform.openai.com/docs/api-reference

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.union([z.string(), z.looseObject({ url: z.string() }).transform(({ url }) => url)]).optional(),
});
const TEXTS = ['text', 'input_text', 'output_text'];
const IMAGES = ['image_url', 'input_image'];

/** Text and pictures of a message. */
export const Content = z.union([
  z.string().transform((text) => ({ text, pictures: [] as Uint8Array[] })),
  z.array(Part).transform((parts, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    const said: string[] = [];
    const pictures: Uint8Array[] = [];
    for (const { type, text, image_url: address } of parts) {
      const bytes = IMAGES.includes(type) && address !== undefined ? ofDataUrl(address) : null;
      if (text !== undefined && TEXTS.includes(type)) said.push(text);
      else if (bytes) pictures.push(bytes);
      else if (IMAGES.includes(type)) refuse(NOT_FETCHED);
      else refuse(`has a part of type "${type}"; text and pictures can be read here`);
    }
    if (pictures.length > MAX_PICTURES) refuse(`has ${pictures.length} pictures, at most ${MAX_PICTURES} are allowed`);
    return { text: said.join(''), pictures };
  }),
]);

const Call = z.looseObject({
  id: z.string().max(200).optional(),
  function: z.looseObject({ name: z.string().min(1).max(200), arguments: z.string().default('{}') }),
});

const Message = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: Content.nullish().transform((content) => content ?? { text: '', pictures: [] }),
    reasoning_content: z.string().nullish(),
    tool_calls: z.array(Call).nullish(),
    tool_call_id: z.string().max(200).optional(),
    name: z.string().max(200).optional(),
  })
  .refine(({ role, content }) => role === 'user' || content.pictures.length === 0, 'only a user shows pictures');

/** Other fields are passed to the model; `strict` constrains the arguments. */
export const FunctionTool = z
  .looseObject({
    type: z.literal('function', 'only functions can be called here'),
    function: z.looseObject({ name: z.string().min(1).max(200) }),
  })
  .transform(({ function: tool }): Tool => ({ type: 'function', function: tool }));

const absent = (what: string) =>
  z
    .union([z.null(), z.array(z.unknown()).max(0, `${what} are not supported yet`)], `${what} are not supported yet`)
    .optional();

const Mode = z.enum(['auto', 'none', 'required']).transform((mode): Choice => ({ mode, only: null }));
const Named = z
  .looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) })
  .transform(({ function: { name } }) => name);
const ToolChoice = z.union(
  [
    Mode,
    Named.transform((name): Choice => ({ mode: 'required', only: [name] })),
    z
      .looseObject({
        type: z.literal('allowed_tools'),
        allowed_tools: z.looseObject({ mode: z.enum(['auto', 'required']), tools: z.array(Named).min(1).max(128) }),
      })
      .transform(({ allowed_tools: { mode, tools } }): Choice => ({ mode, only: tools })),
  ],
  'has to be "auto", "none", "required", a function by its name, or allowed_tools',
);

const MAX_BIASES = 1024;
/** What is added to the logits of tokens, by their ids in the model's own vocabulary. */
export const LogitBias = z
  .record(z.string(), z.number().min(-100).max(100))
  .refine((given) => Object.keys(given).every((id) => /^\d{1,9}$/.test(id)), 'has to name tokens by their ids')
  .refine((given) => Object.keys(given).length <= MAX_BIASES, `has more than ${MAX_BIASES} tokens`)
  .nullish();

export const biasOf = (given: z.infer<typeof LogitBias>): Bias | null => {
  const entries = Object.entries(given ?? {});
  if (entries.length === 0) return null;
  return { tokens: entries.map(([id]) => Number(id)), values: entries.map(([, value]) => value) };
};

/** A schema is always enforced, `strict` or not. */
const ResponseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ schema: z.union([z.record(z.string(), z.unknown()), z.boolean()]) }),
  }),
]);

/** Sampling parameters and length limits. */
export const samplingFields = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.number().int().min(0).max(1000).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().min(0.5).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  seed: z.number().int().nullish(),
  max_tokens: z.number().int().min(1).max(1_000_000).nullish(),
};
export const Stops = z.union([z.string(), z.array(z.string()).max(16)]).nullish();

export const Effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']);

/** Maximum choices per request. */
export const MAX_CHOICES = 16;

/** Maximum alternatives per token. */
export const MAX_ALTERNATIVES = 20;

export const ChatBody = z
  .looseObject({
    model: z.string().min(1).max(500),
    messages: z.array(Message).min(1),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    ...samplingFields,
    max_completion_tokens: z.number().int().min(1).max(1_000_000).nullish(),
    stop: Stops,
    n: z.number().int().min(1).max(MAX_CHOICES).nullish(),
    reasoning_effort: Effort.nullish(),
    chat_template_kwargs: z.looseObject({ enable_thinking: z.boolean().nullish() }).nullish(),
    tools: z.array(FunctionTool).max(128).nullish(),
    tool_choice: ToolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    functions: absent('functions'),
    modalities: z.array(z.literal('text', 'only text can be written here')).nullish(),
    audio: z.null('only text can be written here').optional(),
    web_search_options: z.null('the web is not searched; offer a tool that does').optional(),
    logit_bias: LogitBias,
    logprobs: z.boolean().nullish(),
    top_logprobs: z.number().int().min(0).max(MAX_ALTERNATIVES).nullish(),
    response_format: ResponseFormat.nullish(),
  })
  .refine(({ logprobs, top_logprobs }) => top_logprobs == null || logprobs === true, {
    path: ['top_logprobs'],
    error: 'needs "logprobs": true',
  });
export type ChatBody = z.infer<typeof ChatBody>;

export const EmbeddingsBody = z.looseObject({
  model: z.string().min(1).max(500),
  input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2048)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.null('the length of a vector is that of the model').optional(),
  /** For encoders that distinguish queries from passages. */
  input_type: z.enum(['query', 'passage']).nullish(),
});

/** One request per choice, with different seeds, since the same seed would generate the same answer. */
export function requestsOf(body: ChatBody): AnswerRequest[] {
  const { n, seed } = body;
  return [...Array(n ?? 1).keys()].map((number) => requestOf({ ...body, seed: seed == null ? seed : seed + number }));
}

/** The request in our own terms. */
export function requestOf(body: ChatBody): AnswerRequest {
  const { stop, reasoning_effort, tool_choice } = body;
  const { enable_thinking = null } = body.chat_template_kwargs ?? {};
  return {
    model: body.model,
    messages: conversationOf(body.messages),
    tools: body.tool_choice?.mode === 'none' ? [] : (body.tools ?? []),
    thinking: reasoning_effort == null ? enable_thinking : reasoning_effort !== 'none',
    thinkingTokens: null,
    sampling: samplingOf({ ...body, max_tokens: body.max_completion_tokens ?? body.max_tokens }),
    logprobs: body.logprobs ? (body.top_logprobs ?? 0) : null,
    bias: biasOf(body.logit_bias),
    grammar: answerGrammar({
      tools: body.tools ?? [],
      choice: tool_choice ?? anyCall,
      schema: schemaOf(body.response_format),
      most: body.parallel_tool_calls === false ? 1 : null,
    }),
    stops: stopsOf(stop),
  };
}

export const stopsOf = (stop: string | string[] | null | undefined): string[] =>
  stop == null ? [] : typeof stop === 'string' ? [stop] : stop;

/** undefined: any text. */
function schemaOf(format: ChatBody['response_format']): unknown {
  if (format?.type === 'json_schema') return format.json_schema.schema;
  return format?.type === 'json_object' ? anyObject : undefined;
}

/** Leading instructions are merged into one message: most templates support only one. */
function conversationOf(messages: ChatBody['messages']): ConversationMessage[] {
  const begin = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const instructions = messages.slice(0, begin === -1 ? messages.length : begin);
  const rest = messages.slice(instructions.length);
  const text = instructions.map(({ content }) => content.text).join('\n\n');
  return [
    ...(text === '' ? [] : [{ role: 'system' as const, text, thinking: '' }]),
    ...rest.map(({ role, content, reasoning_content, tool_calls, tool_call_id, name }) => ({
      role: role === 'developer' ? ('system' as const) : role,
      text: content.text,
      ...(content.pictures.length > 0 && { pictures: content.pictures }),
      thinking: reasoning_content ?? '',
      ...(tool_calls && { calls: tool_calls.map(callOf) }),
      ...(role === 'tool' && {
        answers: { ...(tool_call_id !== undefined && { callId: tool_call_id }), ...(name !== undefined && { name }) },
      }),
    })),
  ];
}

export function samplingOf(body: z.infer<z.ZodObject<typeof samplingFields>>): SamplingSettings {
  const given = {
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    minP: body.min_p,
    repetitionPenalty: body.repetition_penalty,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    seed: body.seed == null ? null : Math.abs(body.seed) % 2 ** 31,
    maxTokens: body.max_tokens,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as SamplingSettings;
}

/** Templates expect arguments as an object, not as JSON text. */
export const callOf = ({ id, function: { name, arguments: given } }: z.infer<typeof Call>): ToolCall => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: jsonOr(given) },
});

/** @throws LonghandError `too-large` */
function jsonOr(text: string): unknown {
  try {
    return parseJson(text, 'arguments');
  } catch (error) {
    if (error instanceof LonghandError && error.code === 'too-large') throw error;
    return text;
  }
}
