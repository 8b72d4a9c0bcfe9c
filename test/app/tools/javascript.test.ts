import { expect, test } from 'vitest';
import { javascript } from '../../../app/tools/sandbox/javascript.ts';
import { type CallContext, ToolError } from '../../../app/tools/tool.ts';
import { places } from '../../support/core/core.ts';

const run = async (code: string, signal = new AbortController().signal, timeLimitMs = 10_000) =>
  String(
    await javascript(places.sandbox, timeLimitMs).run({ code }, { chatId: 'c', messageId: 'm', signal } as CallContext),
  );
const problem = (code: string, timeLimitMs?: number) =>
  run(code, undefined, timeLimitMs).then(
    (result) => ['no problem', result],
    (error) => (error instanceof ToolError ? [error.problem, error.message] : [String(error)]),
  );

test.each([
  ['[3, 1, 2].sort().map((x) => x ** 2)', '[\n  1,\n  4,\n  9\n]'],
  ['let sum = 0; for (let i = 1; i <= 1000; i++) sum += i; sum', '500500'],
  ['console.log("a", 1, { b: [2] }); console.error(null); "the end"', 'a 1 {\n  "b": [\n    2\n  ]\n}\nnull\nthe end'],
  ['console.log(undefined, 1, undefined); 2', 'undefined 1 undefined\n2'],
  ['2n ** 70n', '1180591620717411303424'],
  ['new Date(Date.UTC(2024, 1, 29)).toISOString()', '2024-02-29T00:00:00.000Z'],
  ['const wait = async () => 41; wait().then((x) => x + 1)', '42'],
  ['"naïve 😀".toUpperCase()', 'NAÏVE 😀'],
  ['let x = 1;', 'It ended without a value.'],
  ['Symbol("s")', 'Symbol()'],
  ['const a = {}; a.a = a; a', '[object Object]'],
])('%s', async (code, result) => expect(await run(code)).toBe(result));

test('nothing of the host is there', async () => {
  const names =
    'process require module exports fetch setTimeout setInterval WebAssembly Worker Buffer XMLHttpRequest Deno Bun std os global __filename';
  const seen = `${JSON.stringify(names.split(' '))}.filter((name) => typeof globalThis[name] !== 'undefined')`;
  expect(await run(seen)).toBe('[]');
  // The constructor of a function makes functions of the sandbox.
  expect(await run('console.log.constructor("return typeof process")()')).toBe('undefined');
  expect(await problem('import("node:fs")')).toEqual([
    'failed',
    expect.stringMatching(/ReferenceError|TypeError|SyntaxError|module/),
  ]);
  expect((await problem('import fs from "node:fs"'))[0]).toBe('failed');
});

test.each([
  ['throws', 'let a = 1;\nnull.x', ['failed', expect.stringMatching(/^TypeError: .*\(line 2\)$/)]],
  ['is no JavaScript', 'let = 3 +', ['failed', expect.stringContaining('SyntaxError')]],
  ['throws no error', 'throw "text"', ['failed', 'text']],
  ['rejects', 'Promise.reject(new Error("no"))', ['failed', expect.stringContaining('Error: no')]],
  ['waits for ever', 'new Promise(() => {})', ['failed', 'it waits for something that never comes']],
  ['calls itself', 'const f = () => f(); f()', ['failed', expect.stringContaining('stack')]],
  ['makes a long text', '"x".repeat(2 ** 28).length', ['failed', expect.stringMatching(/memory|length/)]],
  ['never ends', 'for (;;);', ['timed-out', 'no result within 0.3 seconds']],
  [
    'promises for ever',
    'const f = () => Promise.resolve().then(f); f()',
    ['timed-out', 'no result within 0.3 seconds'],
  ],
  ['looks for ever', '/(a+)+$/.test("a".repeat(40) + "b")', ['timed-out', expect.any(String)]],
])(
  'a program that %s is a sentence',
  async (_, code, said) => {
    expect(await problem(code, 300)).toEqual(said);
  },
  20_000,
);

test('a program that takes all memory is told so', async () => {
  const bomb = 'const a = []; for (;;) a.push({ b: [1, 2, 3] })';
  expect(await problem(bomb, 15_000)).toEqual(['failed', expect.stringContaining('out of memory')]);
}, 30_000);

test('one that is stopped ends, and much that is printed is cut', async () => {
  const stop = new AbortController();
  const running = run('for (;;);', stop.signal, 60_000).catch((error) => error);
  stop.abort();
  expect(await running).toBeInstanceOf(ToolError);
  const long = await run('for (let i = 0; i < 1e5; i++) console.log(i); "end"');
  expect(long.length).toBeLessThan(40_000);
});
