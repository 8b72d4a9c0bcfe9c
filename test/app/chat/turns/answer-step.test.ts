// What of an answer is shown while it is split into text and calls.
import { expect, test } from 'vitest';
import { createAnswerStep } from '../../../../app/chat/turns/answer-step.ts';
import { callFormatOf } from '../../../../app/text/tool-calls/call-formats.ts';

const tools = {
  format: callFormatOf('{% if tools %}<tool_call>{"name": "x", "arguments": {}}</tool_call>{% endif %}'),
  schemas: [{ type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } }],
} as never;

test('an answer that is gone on with in the middle of a sign shows nothing of it twice', () => {
  const step = createAnswerStep(tools, 'Two <');
  expect(step.push(' three')).toBe(' three');
  expect(step.push(', and <tool_call>')).toBe(', and');
});
