// What the events of a remote engine's answer say.
import { expect, test } from 'vitest';
import { DONE } from '../../../../app/engine/remote/connection.ts';
import { createReply } from '../../../../app/engine/remote/reply.ts';

const open = () => createReply({ host: 'lab', key: null });
const delta = (given: object, more: object = {}) => ({ choices: [{ delta: given, ...more }] });
const call = (index: number | null, name: string | null, given: unknown, id?: string) => ({
  ...(index !== null && { index }),
  ...(id && { id }),
  function: { ...(name !== null && { name }), arguments: given },
});

test.each([
  [delta({ content: 'Hi' }), [{ type: 'text', kind: 'answer', text: 'Hi' }]],
  [delta({ refusal: 'No' }), [{ type: 'text', kind: 'answer', text: 'No' }]],
  [delta({ reasoning: 'Hm' }), [{ type: 'text', kind: 'thinking', text: 'Hm' }]],
  [delta({ reasoning_content: 'Hm', reasoning: 'twice' }), [{ type: 'text', kind: 'thinking', text: 'Hm' }]],
  [{ choices: [{ message: { content: 'Whole' } }] }, [{ type: 'text', kind: 'answer', text: 'Whole' }]],
  [delta({ content: '' }), []],
  [delta({}, { finish_reason: 'length' }), [{ type: 'end', reason: 'length' }]],
  [{ choices: [] }, []],
  [DONE, [{ type: 'done' }]],
])('%j', (event, parts) => {
  expect(open().read(event)).toEqual(parts);
});

test('figures: cached are never more than were sent, and what is missing is none', () => {
  const of = (usage: object) => open().read({ choices: [], usage })[0];
  const details = { prompt_tokens_details: { cached_tokens: 7 }, completion_tokens_details: { reasoning_tokens: 2 } };
  expect(of({ prompt_tokens: 9, completion_tokens: 5, ...details })).toEqual({
    type: 'usage',
    usage: { prompt: 9, cached: 7, written: 5, thinking: 2 },
  });
  expect(of({ prompt_tokens: 3, completion_tokens: 5, ...details })).toMatchObject({ usage: { cached: 3 } });
  expect(of({ prompt_tokens: 3, completion_tokens: 5 })).toMatchObject({ usage: { cached: 0, thinking: null } });
});

test('a call comes in pieces, several beside each other, or whole without a number; its length is told as it grows', () => {
  const pieces = open();
  pieces.read(delta({ tool_calls: [call(0, 'clock', '{"zo')] }));
  expect(pieces.read(delta({ tool_calls: [call(0, null, 'ne":1}'), call(1, 'date', '')] }))).toEqual([
    { type: 'calling', characters: 'clock{"zone":1}date'.length },
  ]);
  expect(pieces.calls()).toEqual([
    { name: 'clock', arguments: { zone: 1 } },
    { name: 'date', arguments: {} },
  ]);
  const whole = open();
  whole.read(delta({ tool_calls: [call(null, 'a', { x: 1 })] }));
  whole.read(delta({ tool_calls: [call(null, 'b', null)] }));
  expect(whole.calls()).toEqual([
    { name: 'a', arguments: { x: 1 } },
    { name: 'b', arguments: {} },
  ]);
  const unnumbered = open();
  unnumbered.read(delta({ tool_calls: [call(0, 'a', '{"x"')] }));
  unnumbered.read(delta({ tool_calls: [call(null, null, ':2}')] }));
  expect(unnumbered.calls()).toEqual([{ name: 'a', arguments: { x: 2 } }]);
  const renamed = open();
  renamed.read(delta({ tool_calls: [call(0, 'first', '{}')] }));
  renamed.read(delta({ tool_calls: [call(0, 'second', '')] }));
  expect(renamed.calls().map(({ name }) => name)).toEqual(['first']);
  const nameless = open();
  nameless.read(delta({ tool_calls: [call(0, null, '{}')] }));
  expect(nameless.calls()).toEqual([]);
});

test('a call may be a million characters long, and a step may have 64', () => {
  const long = (characters: number) => () => open().read(delta({ tool_calls: [call(0, 'a', 'x'.repeat(characters))] }));
  expect(long(1_000_000)).not.toThrow();
  expect(long(1_000_001)).toThrow('a call is larger than any tool takes');
  const many = (calls: number) => () =>
    open().read(delta({ tool_calls: Array.from({ length: calls }, (_, index) => call(index, 'a', '')) }));
  expect(many(64)).not.toThrow();
  expect(many(65)).toThrow('a call is larger than any tool takes');
});

test.each(['[1]', 'null', '3', '{"a":'])('arguments that are no object end the answer: %s', (given) => {
  const reply = open();
  reply.read(delta({ tool_calls: [call(0, 'clock', given)] }));
  expect(() => reply.calls()).toThrow(
    `[remote] lab: the arguments of its call of "clock" are no JSON object: ${given}`,
  );
});

test('an error in the stream is said in its words; what is no part of an answer is shown by its beginning', () => {
  expect(() => open().read({ error: { message: 'out of memory' } })).toThrow(
    '[remote] lab: it ended with an error: out of memory',
  );
  expect(() => open().read({ words: 'x'.repeat(500) })).toThrow(
    `[remote] lab: what came is no part of an answer: {"words":"${'x'.repeat(110)}`,
  );
  // A field that says there is none.
  expect(open().read({ error: null, choices: [] })).toEqual([]);
  expect(() => open().read('words')).toThrow('what came is no part of an answer: "words"');
  expect(() => open().read(null)).toThrow('what came is no part of an answer: null');
});
