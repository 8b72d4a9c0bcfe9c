// Every family writes a call that its own parser reads, with arguments of the schema.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { type CallFormat, callFormatOf } from '../../../../app/text/tool-calls/call-formats.ts';
import { callGrammar } from '../../../../app/text/tool-calls/call-grammar.ts';
import { createCallSplitter } from '../../../../app/text/tool-calls/call-splitter.ts';
import { randomFrom, wordsOf, writeAtRandom } from '../../../support/grammar.ts';

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
  { type: 'function' as const, function: { name: 'weather', parameters } },
  { type: 'function' as const, function: { name: 'clock' } },
];
const templates = {
  hermes: '{{ tools }}<tool_call>',
  qwen3_5: '{{ tools }}<tool_call><function=<parameter=',
  lfm2: '{{ tools }}<|tool_call_start|>',
  mistral: '{{ tools }}[TOOL_CALLS]',
  llama3: '{{ tools }}"parameters"',
};

test.each(Object.entries(templates))('%s', async (_family, template) => {
  const words = await wordsOf('starter');
  const format = callFormatOf(template) as CallFormat;
  const grammar = await words.vocabulary.grammar('parts', JSON.stringify(callGrammar(format, tools, words.tokenizer)));
  const ajv = new Ajv2020({ strict: false });
  const random = randomFrom(17);
  let read = 0;
  for (let text = 0; text < 12; text++) {
    const ids = writeAtRandom(grammar, words, random, { freely: 60 });
    if (!ids) continue;
    const splitter = createCallSplitter(format, tools);
    const parts = [...splitter.push(words.text(ids)), ...splitter.flush()];
    const [part] = parts;
    expect(parts.length, words.text(ids)).toBe(1);
    if (part?.kind !== 'call') return expect.fail(words.text(ids));
    read++;
    if (part.call.name === 'weather') expect(ajv.validate(parameters, part.call.arguments), words.text(ids)).toBe(true);
  }
  expect(read).toBeGreaterThan(8);
});
