// Every family writes a call that its own parser reads, with arguments of the schema.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { type CallFormat, callFormatOf } from '../../../../app/text/tool-calls/call-formats.ts';
import { type AnswerWithCalls, answerGrammar } from '../../../../app/text/tool-calls/call-grammar.ts';
import { type CallPart, createCallSplitter } from '../../../../app/text/tool-calls/call-splitter.ts';
import type { Grammar } from '../../../../native/addon/index.d.ts';
import { randomFrom, wordsOf, writeAtRandom } from '../../../support/models/grammar.ts';

const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string', maxLength: 6 },
    days: { type: 'integer', minimum: -2, maximum: 12 },
    unit: { enum: ['c', 'f'] },
    tags: { type: 'array', items: { type: 'boolean' }, maxItems: 2 },
    more: { type: 'object', properties: { x: { type: 'null' } }, required: ['x'] },
  },
  required: ['days', 'unit'],
};
const tools = [
  { type: 'function' as const, function: { name: 'weather', parameters, strict: true } },
  { type: 'function' as const, function: { name: 'clock' } },
];
/** Of each family: its template, and calls as it writes them, the first one with this unit. */
const families = {
  hermes: {
    template: '{{ tools }}<tool_call>',
    call: (unit: string) =>
      `<tool_call>\n{"name": "weather", "arguments": {"days": 3, "unit": "${unit}"}}\n</tool_call>`,
    other: '<tool_call>\n{"name": "clock", "arguments": {"zone": [1]}}\n</tool_call>',
  },
  qwen3_5: {
    template: '{{ tools }}<tool_call><function=<parameter=',
    call: (unit: string) =>
      `<tool_call>\n<function=weather>\n<parameter=days>\n3\n</parameter>\n<parameter=unit>\n${unit}\n</parameter>\n</function>\n</tool_call>`,
    other: '<tool_call>\n<function=clock>\n<parameter=zone>\n<b>a << 2</b></p\n</parameter>\n</function>\n</tool_call>',
  },
  lfm2: {
    template: '{{ tools }}<|tool_call_start|>',
    call: (unit: string) => `<|tool_call_start|>[weather(days=3, unit="${unit}")]<|tool_call_end|>`,
    other: '<|tool_call_start|>[clock(zone="a", more=2), clock()]<|tool_call_end|>',
  },
  mistral: {
    template: '{{ tools }}[TOOL_CALLS]',
    call: (unit: string) => `[TOOL_CALLS][{"name": "weather", "arguments": {"days": 3, "unit": "${unit}"}}]`,
    other: '[TOOL_CALLS][{"name": "clock", "arguments": {"zone": "a"}}]',
  },
  llama3: {
    template: '{{ tools }}"parameters"',
    call: (unit: string) => `{"name": "weather", "parameters": {"days": 3, "unit": "${unit}"}}`,
    other: '{"name": "clock", "parameters": {"zone": "a"}}',
  },
};

const shown = {
  type: 'object',
  properties: { sum: { type: 'integer' } },
  required: ['sum'],
  additionalProperties: false,
};
const ajv = new Ajv2020({ strict: false });
const words = wordsOf('starter');

async function grammarOf(template: string, answer: Omit<AnswerWithCalls, 'tools'>) {
  const { vocabulary, tokenizer } = await words;
  const format = callFormatOf(template) as CallFormat;
  const parts = answerGrammar(format, { ...answer, tools }, tokenizer);
  return { format, grammar: await vocabulary.grammar('parts', JSON.stringify(parts)) };
}

/** Whether a text may be the whole answer. */
async function fits(grammar: Grammar, text: string): Promise<boolean> {
  const { tokenizer } = await words;
  return grammar.after(Int32Array.from(tokenizer.encode(tokenizer.split(text))))?.ends ?? false;
}

const readAs = (format: CallFormat, text: string): CallPart[] => {
  const splitter = createCallSplitter(format, tools);
  return [...splitter.push(text), ...splitter.flush()];
};

describe.each(Object.entries(families))('%s', (family, { template, call, other }) => {
  /** In this family a call is the whole answer. */
  const whole = family === 'llama3';

  test('one call and nothing else', async () => {
    const { format, grammar } = await grammarOf(template, { beside: { kind: 'none' }, most: 1 });
    const all = await words;
    const random = randomFrom(17);
    let read = 0;
    for (let text = 0; text < 12; text++) {
      const ids = writeAtRandom(grammar, all, random, { freely: 60 });
      if (!ids) continue;
      const parts = readAs(format, all.text(ids));
      const [part] = parts;
      expect(parts.length, all.text(ids)).toBe(1);
      if (part?.kind !== 'call') return expect.fail(all.text(ids));
      read++;
      if (part.call.name !== 'weather') continue;
      expect(ajv.validate(parameters, part.call.arguments), all.text(ids)).toBe(true);
    }
    expect(read).toBeGreaterThan(8);
    expect(await fits(grammar, call('c') + call('c'))).toBe(false);
  });

  test('a value of a schema, or calls in its place', async () => {
    const { format, grammar } = await grammarOf(template, { beside: { kind: 'schema', schema: shown }, most: null });
    expect(await fits(grammar, '{"sum": 12}')).toBe(true);
    for (const text of ['{"sum": 1.5}', '{"sum": 12} and more', 'It is 12.', call('k'), `{"sum": 12}${call('c')}`]) {
      expect(await fits(grammar, text), text).toBe(false);
    }
    for (const text of [call('c'), other, ...(whole ? [] : [`${call('c')}\n${other}`])]) {
      expect(readAs(format, text).map(({ kind }) => kind)).not.toContain('text');
      expect(await fits(grammar, text), text).toBe(true);
    }
  });

  test('any text, and calls with arguments of the schema in it', async () => {
    const { grammar } = await grammarOf(template, { beside: { kind: 'text' }, most: null });
    const texts = ['', 'Hm.', 'a < b, <tool, <<tool_cal, [TOOL and <|tool_call_starts {}\n', call('f'), other];
    const around = [`I look.\n\n${call('c')}`, `${call('c')}\n${other}\n\nThen <this>.`];
    for (const text of [...texts, ...(whole ? [] : around)]) expect(await fits(grammar, text), text).toBe(true);
    for (const text of [call('k'), `I look. ${call('k')}`]) {
      if (!whole || text === call('k')) expect(await fits(grammar, text), text).toBe(false);
    }
    const one = (await grammarOf(template, { beside: { kind: 'text' }, most: 1 })).grammar;
    expect(await fits(one, call('c'))).toBe(true);
    expect(await fits(one, call('c') + call('f'))).toBe(false);
  });
});
