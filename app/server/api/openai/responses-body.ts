import { z } from 'zod';
import type { AnswerRequest, ConversationMessage, Tool } from '../../../core/inference.ts';
import { answerGrammar, anyCall, anyObject, type Choice } from '../answer-grammar.ts';
import { Content, callOf, Effort, MAX_ALTERNATIVES, samplingOf } from './openai-body.ts';

//  Request bodies of the Responses API: https://platform.openai.com/docs/api-reference/responses

const named = { id: z.string().min(1).max(200).optional() };

const Message = z
  .looseObject({
    ...named,
    type: z.literal('message'),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content: Content,
  })
  .refine(({ role, content }) => role === 'user' || content.pictures.length === 0, 'only a user shows pictures');
const Said = z.looseObject({ text: z.string() });
const ITEMS = [
  Message,
  z.looseObject({
    ...named,
    type: z.literal('function_call'),
    call_id: z.string().min(1).max(200),
    name: z.string().min(1).max(200),
    arguments: z.string(),
  }),
  z.looseObject({
    ...named,
    type: z.literal('function_call_output'),
    call_id: z.string().min(1).max(200),
    output: Content.refine(({ pictures }) => pictures.length === 0, 'only a user shows pictures'),
  }),
  z.looseObject({
    ...named,
    type: z.literal('reasoning'),
    summary: z.array(Said).optional(),
    content: z.array(Said).nullish(),
  }),
] as const;

/** A reference to an earlier item. */
const Reference = z.looseObject({ type: z.literal('item_reference'), id: z.string().min(1).max(200) });

export type Item = z.infer<(typeof ITEMS)[number]>;

/** The type of a message may be omitted. */
const AskedItem = z.preprocess(
  (item) => (typeof item === 'object' && item !== null && !('type' in item) ? { ...item, type: 'message' } : item),
  z.discriminatedUnion(
    'type',
    [...ITEMS, Reference],
    'has to be a message, function_call, function_call_output, reasoning or item_reference',
  ),
);
export type AskedItem = z.infer<typeof AskedItem>;

const Format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string().max(200).optional(),
    schema: z.union([z.record(z.string(), z.unknown()), z.boolean()]),
  }),
]);

const ResponseTool = z.looseObject({
  type: z.literal('function', 'only functions can be called here'),
  name: z.string().min(1).max(200),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

const Named = z.looseObject({ type: z.literal('function'), name: z.string() });
const ToolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    Named,
    z.looseObject({
      type: z.literal('allowed_tools'),
      mode: z.enum(['auto', 'required']),
      tools: z.array(Named).min(1).max(128),
    }),
  ],
  'has to be "auto", "none", "required", a function by its name, or allowed_tools',
);

function choiceOf(choice: z.infer<typeof ToolChoice> | null | undefined): Choice {
  if (choice == null) return anyCall;
  if (typeof choice === 'string') return { mode: choice, only: null };
  if (choice.type === 'function') return { mode: 'required', only: [choice.name] };
  return { mode: choice.mode, only: choice.tools.map(({ name }) => name) };
}

/** Limits function calls, the only kind of calls we have. */
const mostCalls = ({ parallel_tool_calls: several, max_tool_calls: most }: ResponsesBody): number | null =>
  several === false ? Math.min(1, most ?? 1) : (most ?? null);

const unsupported = (what: string) => z.null(`${what} not supported`).optional();

export const ResponsesBody = z
  .looseObject({
    model: z.string().min(1).max(500),
    input: z
      .union([
        z
          .string()
          .transform((text): AskedItem[] => [{ type: 'message', role: 'user', content: { text, pictures: [] } }]),
        z.array(AskedItem).min(1),
      ])
      .optional(),
    instructions: z.string().nullish(),
    previous_response_id: z.string().max(200).nullish(),
    store: z.boolean().nullish(),
    stream: z.boolean().nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    max_output_tokens: z.number().int().min(1).max(1_000_000).nullish(),
    tools: z.array(ResponseTool).max(128).nullish(),
    tool_choice: ToolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    max_tool_calls: z.number().int().min(0).max(128).nullish(),
    text: z.looseObject({ format: Format.nullish() }).nullish(),
    reasoning: z.looseObject({ effort: Effort.nullish() }).nullish(),
    include: z.array(z.string()).nullish(),
    top_logprobs: z.number().int().min(0).max(MAX_ALTERNATIVES).nullish(),
    metadata: z.record(z.string(), z.string().max(512)).nullish(),
    background: z.literal(false, 'responses in the background are not supported').nullish(),
    conversation: unsupported('conversations are'),
    prompt: unsupported('stored prompts are'),
  })
  .refine(({ input, previous_response_id }) => input !== undefined || previous_response_id != null, {
    path: ['input'],
    error: 'is missing',
  });
export type ResponsesBody = z.infer<typeof ResponsesBody>;

/** The request at the end of the conversation. */
export function requestOfItems(body: ResponsesBody, items: readonly Item[]): AnswerRequest {
  const { instructions, top_logprobs, include } = body;
  const tools = (body.tools ?? []).map(toolOf);
  const choice = choiceOf(body.tool_choice);
  const scored = top_logprobs != null || include?.includes('message.output_text.logprobs');
  const said = instructions == null || instructions === '' ? [] : [systemSays(instructions)];
  return {
    model: body.model,
    messages: conversationOf([...said, ...items]),
    tools: choice.mode === 'none' ? [] : tools,
    thinking: body.reasoning?.effort == null ? null : body.reasoning.effort !== 'none',
    thinkingTokens: null,
    sampling: samplingOf({ temperature: body.temperature, top_p: body.top_p, max_tokens: body.max_output_tokens }),
    logprobs: scored ? (top_logprobs ?? 0) : null,
    grammar: answerGrammar({ tools, choice, schema: schemaOf(body.text?.format), most: mostCalls(body) }),
    stops: [],
  };
}

const systemSays = (text: string): Item => ({ type: 'message', role: 'system', content: { text, pictures: [] } });

/** undefined: any text. */
function schemaOf(format: z.infer<typeof Format> | null | undefined): unknown {
  if (format?.type === 'json_schema') return format.schema;
  return format?.type === 'json_object' ? anyObject : undefined;
}

const toolOf = ({ name, description, parameters, strict }: z.infer<typeof ResponseTool>): Tool => ({
  type: 'function',
  function: {
    name,
    ...(description != null && { description }),
    ...(parameters != null && { parameters }),
    ...(strict != null && { strict }),
  },
});

/** Thinking, text and calls of one turn are separate items here, but one message for a template. */
function conversationOf(items: readonly Item[]): ConversationMessage[] {
  const messages: ConversationMessage[] = [];
  const answering = (fits: (last: ConversationMessage) => boolean): ConversationMessage => {
    const last = messages.at(-1);
    if (last?.role === 'assistant' && fits(last)) return last;
    const begun: ConversationMessage = { role: 'assistant', text: '', thinking: '' };
    messages.push(begun);
    return begun;
  };
  const silent = ({ text, calls }: ConversationMessage) => text === '' && !calls;
  for (const item of items) {
    if (item.type === 'reasoning') {
      answering(silent).thinking += (item.content ?? item.summary ?? []).map(({ text }) => text).join('');
    } else if (item.type === 'function_call') {
      const message = answering(() => true);
      const { call_id: id, name, arguments: given } = item;
      message.calls = [...(message.calls ?? []), callOf({ id, function: { name, arguments: given } })];
    } else if (item.type === 'function_call_output') {
      messages.push({ role: 'tool', text: item.output.text, thinking: '', answers: { callId: item.call_id } });
    } else if (item.role === 'assistant') answering(silent).text = item.content.text;
    else messages.push(plain(item));
  }
  return withOneBeginning(messages);
}

const plain = ({ role, content: { text, pictures } }: z.infer<typeof Message>): ConversationMessage => ({
  role: role === 'developer' ? 'system' : role,
  text,
  thinking: '',
  ...(pictures.length > 0 && { pictures }),
});

/** Instructions at the beginning are one message: most templates know only one. */
function withOneBeginning(messages: ConversationMessage[]): ConversationMessage[] {
  const end = messages.findIndex(({ role }) => role !== 'system');
  const instructions = messages.slice(0, end === -1 ? messages.length : end);
  if (instructions.length < 2) return messages;
  const text = instructions.map((message) => message.text).join('\n\n');
  return [{ role: 'system', text, thinking: '' }, ...messages.slice(instructions.length)];
}
