export type ParsedCall = { name: string; arguments: object };

/** How a family writes its calls. */
export type CallFormat = {
  /** What begins a call, in the words of the model; null: a call is the whole answer, from its first character on. */
  readonly open: string | null;
  readonly close: string | null;
  readonly body: 'json' | 'xml' | 'python';
};

//  Qwen3.5, Qwen3-Coder   <tool_call> <function=name> <parameter=key> value </parameter> … </function> </tool_call>
//  Qwen2.5, Qwen3, Hermes <tool_call> {"name": …, "arguments": {…}} </tool_call>
//  LFM2, MiniCPM4         <|tool_call_start|> [name(key="value"), …] <|tool_call_end|>
//  Mistral                [TOOL_CALLS] [{"name": …, "arguments": {…}}, …]
//  Llama 3                {"name": …, "parameters": {…}} as the whole answer

const HERMES = { open: '<tool_call>', close: '</tool_call>' } as const;

/** Tokens of a vocabulary that begin and end a call: a tokenizer may hold them for control tokens, which nobody sees. */
export function callMarkers(tools: readonly unknown[] | undefined, template: string | null): string[] {
  const format = tools && tools.length > 0 ? callFormatOf(template) : null;
  return [format?.open, format?.close].filter((marker) => typeof marker === 'string');
}

/** The format that a chat template asks its model for; null: this template knows no tools. */
export function callFormatOf(template: string | null): CallFormat | null {
  if (template === null || !/\btools\b/.test(template)) return null;
  if (template.includes('<function=') && template.includes('<parameter=')) return { ...HERMES, body: 'xml' };
  if (template.includes(HERMES.open)) return { ...HERMES, body: 'json' };
  if (template.includes('<|tool_call_start|>') || template.includes('<|tool_list_start|>')) {
    return { open: '<|tool_call_start|>', close: '<|tool_call_end|>', body: 'python' };
  }
  // LFM2.5 names its tools without a marker.
  if (template.includes('List of tools: '))
    return { open: '<|tool_call_start|>', close: '<|tool_call_end|>', body: 'python' };
  if (template.includes('[TOOL_CALLS]')) return { open: '[TOOL_CALLS]', close: null, body: 'json' };
  if (/"parameters"|'parameters'/.test(template)) return { open: null, close: null, body: 'json' };
  return null;
}
