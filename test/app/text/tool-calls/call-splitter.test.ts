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
  minicpm4: { open: '<|tool_call_start|>', close: '<|tool_call_end|>', body: 'python' },
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
    else if (part.kind !== 'text') throw new Error('a call in pieces');
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

test('behind pieces of code that are closed a call is made, however many stand in its line; inside one it is shown', () => {
  const call = '<tool_call>{"name":"now","arguments":{}}</tool_call>';
  const { hermes } = FORMATS as Record<'hermes', CallFormat>;
  expect(read(hermes, [`Instead of \`a\` and \`b\`: ${call}`])).toEqual(['Instead of `a` and `b`:', ['now', {}]]);
  expect(read(hermes, [`Instead of \`a\` write \`${call}\`.`])).toEqual([`Instead of \`a\` write \`${call}\`.`]);
});

/** As `read`, of calls that come in pieces; one that is cut is what was said of it, as text. */
function readPieces(format: CallFormat, pieces: readonly string[]): (string | [string, unknown])[] {
  const splitter = createCallSplitter(format, tools, { inPieces: true });
  const said: (string | [string, unknown])[] = [];
  let open: { name: string; json: string } | null = null;
  for (const part of [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.flush()]) {
    if (part.kind === 'begin') {
      expect(open, 'no call begins within another').toBeNull();
      open = { name: part.name, json: '' };
    } else if (part.kind === 'arguments') {
      if (!open) throw new Error('arguments of no call');
      open.json += part.text;
    } else if (part.kind === 'end') {
      if (!open) throw new Error('the end of no call');
      said.push([open.name, part.cut ? `cut: ${open.json}` : JSON.parse(open.json)]);
      open = null;
    } else if (part.kind === 'call') said.push([part.call.name, part.call.arguments]);
    else if (typeof said.at(-1) === 'string') said.push(said.pop() + part.text);
    else said.push(part.text);
  }
  expect(open, 'every call has an end').toBeNull();
  return said;
}

/** Begun, a call cannot be taken back; whole, this is text. */
const CUT: Record<string, [string, string]> = { 'JSON that breaks off': ['now', 'cut: {'] };

for (const [family, format] of Object.entries(FORMATS)) {
  describe(`${family}, in pieces`, () => {
    test.each(OUTPUTS[family] ?? [])('%s', (name, text, whole) => {
      const expected = CUT[name] && text.endsWith('{') ? [CUT[name]] : whole;
      expect(readPieces(format, [text])).toEqual(expected);
      expect(readPieces(format, [...text])).toEqual(expected);
      for (let at = 1; at < text.length; at++) {
        expect(readPieces(format, [text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(expected);
      }
    });
  });
}

test.each([
  ['hermes', '<tool_call>{"name": "note.add", "arguments": {"text": "', '"}}</tool_call>', 1],
  ['qwen3_5', '<tool_call>\n<function=note.add>\n<parameter=text>\n', '\n</parameter>\n</function>\n</tool_call>', 1],
  ['mistral', '[TOOL_CALLS][{"name": "note.add", "arguments": {"text": "', '"}}]', 1],
  ['llama3', '{"name": "note.add", "parameters": {"text": "', '"}}', 1],
  // One argument is one piece.
  ['lfm2', '<|tool_call_start|>[note.add(text="', '")]<|tool_call_end|>', 0],
])('%s: an argument comes while it is written, not a word later', (family, before, after, streams) => {
  const splitter = createCallSplitter(FORMATS[family] as CallFormat, tools, { inPieces: true });
  const kinds = splitter.push(before).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'begin')).toHaveLength(streams);
  for (const word of ['one ', 'two\u00e9 ', 'three ']) {
    expect(splitter.push(word)).toEqual(streams ? [{ kind: 'arguments', text: word }] : []);
  }
  const rest = [...splitter.push(after), ...splitter.flush()];
  expect(rest.at(-1)).toEqual({ kind: 'end', cut: false });
});

test('a template says how its model calls', () => {
  const of = (text: string) => callFormatOf(`{% if tools %}${text}{% endif %}`)?.body ?? null;
  expect(of('<tool_call>\n<function=name>\n<parameter=key>')).toBe('xml');
  expect(of('<tool_call>\n{"name": …}')).toBe('json');
  expect(of('List of tools: <|tool_list_start|>[')).toBe('python');
  expect(of('[TOOL_CALLS] ')).toBe('json');
  expect(callFormatOf('{{ messages }} <tool_call>')).toBeNull();
  expect(callFormatOf(null)).toBeNull();
});

test.each(
  ['hermes', 'qwen3_5', 'lfm2'].flatMap((family) => [
    [family, { inPieces: false }],
    [`${family}, in pieces`, { inPieces: true }],
  ]) as [string, { inPieces: boolean }][],
)('%s: a call of 200 KB is read in time in proportion to its length', (name, way) => {
  const family = name.replace(', in pieces', '');
  const value = '< } ] '.repeat(34_000);
  const written = {
    hermes: `<tool_call>{"name":"note.add","arguments":{"text":"${value}"}}</tool_call>`,
    qwen3_5: `<tool_call>\n<function=note.add>\n<parameter=text>\n${value}\n</parameter>\n</function>\n</tool_call>`,
    lfm2: `<|tool_call_start|>[note.add(text="${value}")]<|tool_call_end|>`,
  }[family];
  const text = written ?? '';
  /** Looking through all of it for every piece would take ten times as long for twice the length. */
  const timeOf = (upTo: number) => {
    const splitter = createCallSplitter(FORMATS[family] as CallFormat, tools, way);
    const begun = process.cpuUsage();
    for (let at = 0; at < upTo; at += 4) splitter.push(text.slice(at, at + 4));
    const { user } = process.cpuUsage(begun);
    return { user, parts: splitter.flush() };
  };
  const parts: CallPart[] = [];
  const splitter = createCallSplitter(FORMATS[family] as CallFormat, tools, way);
  for (let at = 0; at < text.length; at += 4) parts.push(...splitter.push(text.slice(at, at + 4)));
  const all = [...parts, ...splitter.flush()];
  const { kind, ...end } = all.at(-1) ?? { kind: 'none' };
  expect([kind, end]).toEqual(way.inPieces ? ['end', { cut: false }] : ['call', expect.anything()]);
  expect(all.filter((part) => part.kind !== 'arguments')).toHaveLength(way.inPieces ? 2 : 1);
  timeOf(50_000);
  expect(timeOf(200_000).user).toBeLessThan(16 * timeOf(50_000).user + 200_000);
});
