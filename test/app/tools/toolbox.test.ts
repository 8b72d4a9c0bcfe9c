import { expect, test } from 'vitest';
import { clock } from '../../../app/tools/built-in/clock.ts';
import { type CallContext, type Tool, ToolError, textIn } from '../../../app/tools/tool.ts';
import { createToolbox, MAX_RESULT } from '../../../app/tools/toolbox.ts';

const context = (signal = new AbortController().signal) => ({ chatId: 'c', messageId: 'm', signal }) as CallContext;
const tool = (run: Tool['run']): Tool => ({
  name: 'try',
  builtIn: true,
  description: '',
  parameters: { type: 'object', properties: {} },
  run,
});
const call = (run: Tool['run'], given: unknown = {}, signal?: AbortSignal) =>
  createToolbox(() => [tool(run)], 50).run('try', given, context(signal));
const problemOf = (result: Promise<unknown>) =>
  result.then(
    () => null,
    (error) => (error instanceof ToolError ? [error.problem, error.message] : error),
  );

test('whatever a tool throws is said in a sentence', async () => {
  expect(await problemOf(call(() => Promise.reject(new Error('no such city'))))).toEqual(['failed', 'no such city']);
  const thrown = () => {
    throw 'text';
  };
  expect(await problemOf(call(thrown))).toEqual(['failed', 'text']);
  expect(await problemOf(call(() => 'x', [1]))).toEqual(['arguments', 'arguments are an object']);
  expect(await problemOf(call(() => 'x', null))).toEqual(['arguments', 'arguments are an object']);
});

test('a tool that never ends is given up, and one that is stopped ends at once', async () => {
  const never = () => new Promise<string>(() => {});
  expect(await problemOf(call(never))).toEqual(['timed-out', 'no result within 0.05 seconds']);
  const stop = new AbortController();
  const stopped = problemOf(call(never, {}, stop.signal));
  stop.abort();
  expect(await stopped).toEqual(['failed', 'it was stopped']);
});

test('a long result is cut where no character is cut', async () => {
  const { text: result } = await call(() => `${'x'.repeat(MAX_RESULT - 1)}😀${'y'.repeat(10)}`);
  expect(result.isWellFormed()).toBe(true);
  expect(result.endsWith('\n[11 more characters were left out]')).toBe(true);
});

test('the clock tells the same moment in every zone', () => {
  const tell = (zone?: string) => clock(() => Date.UTC(2026, 1, 28, 23, 30)).run({ zone }, context());
  expect(tell('UTC')).toBe('Saturday, 2026-02-28, 23:30:00 (UTC, GMT+00:00)');
  expect(tell('Asia/Tokyo')).toBe('Sunday, 2026-03-01, 08:30:00 (Asia/Tokyo, GMT+09:00)');
  expect(tell()).toContain('2026');
  expect(() => tell('Mars')).toThrow(ToolError);
});

test('what is offered: of a name that two have the first, with its server and the name it has there', async () => {
  const consent = { given: () => false, give: () => {}, destroys: false, host: 'example.org' };
  const own = { ...tool(() => 'ours'), name: 'clock', description: 'The time', consent: () => consent };
  const theirs = {
    ...tool(() => 'theirs'),
    builtIn: false,
    of: { server: 'Files', title: 'read' },
    description: 'Reads',
  };
  const box = createToolbox(() => [own, { ...theirs, name: 'clock' }, theirs]);
  expect(box.entries()).toEqual([
    { name: 'clock', title: 'clock', builtIn: true, server: null, description: 'The time' },
    { name: 'try', title: 'read', builtIn: false, server: 'Files', description: 'Reads' },
  ]);
  const parameters = { type: 'object', properties: {} };
  expect(box.schemas(['clock', 'gone'])).toEqual([
    { type: 'function', function: { name: 'clock', description: 'The time', parameters } },
  ]);
  expect([box.consentOf('clock', {}), box.consentOf('try', {}), box.consentOf('gone', {})]).toEqual([
    consent,
    null,
    null,
  ]);
  expect(await box.run('clock', {}, context())).toEqual({ text: 'ours', pictures: [] });
  expect(await problemOf(box.run('gone', {}, context()))).toEqual(['unknown', 'there is no tool "gone"']);
});

test('a result of exactly as many characters as a model gets is whole; a call stopped before it began ends', async () => {
  const whole = 'x'.repeat(MAX_RESULT);
  expect((await call(() => whole)).text).toBe(whole);
  expect((await call(() => `${whole}y`)).text).toBe(`${whole}\n[1 more characters were left out]`);
  expect(await problemOf(call(() => new Promise<string>(() => {}), {}, AbortSignal.abort()))).toEqual([
    'failed',
    'it was stopped',
  ]);
});

test('a text that is wanted is a text or a number', () => {
  expect([textIn({ a: ' x ' }, 'a'), textIn({ a: 12 }, 'a'), textIn({ a: 0 }, 'a')]).toEqual([' x ', '12', '0']);
  for (const a of ['', ' \n', null, true, ['x']])
    expect(() => textIn({ a }, 'a')).toThrow('"a" is missing; a text is needed');
});
