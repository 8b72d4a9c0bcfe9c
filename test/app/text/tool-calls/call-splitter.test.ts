import { describe, expect, test } from 'vitest';
import type { Tool } from '../../../../app/text/chat-template.ts';
import type { CallFormat } from '../../../../app/text/tool-calls/call-formats.ts';
import { callFormatOf } from '../../../../app/text/tool-calls/call-formats.ts';
import { type CallPart, createCallSplitter } from '../../../../app/text/tool-calls/call-splitter.ts';
import { OUTPUTS } from './outputs.ts';

const tools: Tool[] = [
  {
    type: 'function',
    function: {
      name: 'weather',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          days: { type: 'integer' },
          exact: { type: 'boolean' },
          unit: { type: ['string', 'null'] },
          where: { type: 'object' },
          list: { type: 'array' },
          factor: { type: 'number' },
        },
      },
    },
  },
  {
    type: 'function',
    function: { name: 'note.add', parameters: { type: 'object', properties: { text: { type: 'string' } } } },
  },
  { type: 'function', function: { name: 'now' } },
];

const FORMATS: Record<string, CallFormat> = {
  qwen3_5: { open: '<tool_call>', close: '</tool_call>', body: 'xml' },
  hermes: { open: '<tool_call>', close: '</tool_call>', body: 'json' },
  lfm2: { open: '<|tool_call_start|>', close: '<|tool_call_end|>', body: 'python' },
  mistral: { open: '[TOOL_CALLS]', close: null, body: 'json' },
  llama3: { open: null, close: null, body: 'json' },
};

/** Text and calls in their order, pieces of text joined. */
function read(format: CallFormat, pieces: readonly string[]): (string | [string, object])[] {
  const splitter = createCallSplitter(format, tools);
  const parts: CallPart[] = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.flush()];
  const said: (string | [string, object])[] = [];
  for (const part of parts) {
    if (part.kind === 'call') said.push([part.call.name, part.call.arguments]);
    else if (typeof said.at(-1) === 'string') said.push(said.pop() + part.text);
    else said.push(part.text);
  }
  return said;
}

for (const [family, format] of Object.entries(FORMATS)) {
  describe(family, () => {
    test.each(OUTPUTS[family] ?? [])('%s', (_, text, expected) => {
      expect(read(format, [text])).toEqual(expected);
      expect(read(format, [...text])).toEqual(expected);
      for (let at = 1; at < text.length; at++) {
        expect(read(format, [text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(expected);
      }
    });
  });
}

test('a template says how its model calls', () => {
  const of = (text: string) => callFormatOf(`{% if tools %}${text}{% endif %}`)?.body ?? null;
  expect(of('<tool_call>\n<function=name>\n<parameter=key>')).toBe('xml');
  expect(of('<tool_call>\n{"name": …}')).toBe('json');
  expect(of('List of tools: <|tool_list_start|>[')).toBe('python');
  expect(of('[TOOL_CALLS] ')).toBe('json');
  expect(callFormatOf('{{ messages }} <tool_call>')).toBeNull();
  expect(callFormatOf(null)).toBeNull();
});

test.each(['hermes', 'qwen3_5', 'lfm2'])(
  '%s: a call of 200 KB is read in time in proportion to its length',
  (family) => {
    const value = '< } ] '.repeat(34_000);
    const written = {
      hermes: `<tool_call>{"name":"note.add","arguments":{"text":"${value}"}}</tool_call>`,
      qwen3_5: `<tool_call>\n<function=note.add>\n<parameter=text>\n${value}\n</parameter>\n</function>\n</tool_call>`,
      lfm2: `<|tool_call_start|>[note.add(text="${value}")]<|tool_call_end|>`,
    }[family];
    const text = written ?? '';
    /** Looking through all of it for every piece would take ten times as long for twice the length. */
    const timeOf = (upTo: number) => {
      const splitter = createCallSplitter(FORMATS[family] as CallFormat, tools);
      const begun = process.cpuUsage();
      for (let at = 0; at < upTo; at += 4) splitter.push(text.slice(at, at + 4));
      const { user } = process.cpuUsage(begun);
      return { user, parts: splitter.flush() };
    };
    const parts: CallPart[] = [];
    const splitter = createCallSplitter(FORMATS[family] as CallFormat, tools);
    for (let at = 0; at < text.length; at += 4) parts.push(...splitter.push(text.slice(at, at + 4)));
    expect([...parts, ...splitter.flush()].map(({ kind }) => kind)).toEqual(['call']);
    timeOf(50_000);
    expect(timeOf(200_000).user).toBeLessThan(16 * timeOf(50_000).user + 200_000);
  },
);
