import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { createHighlightQueue, type StartHighlighter } from '../../../../renderer/ui/markdown/highlight-queue.ts';

//  Real threads: one that computes for ever is stopped by nothing but its end.

const source = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', ({ id, text }) => {
    if (text === 'for ever') for (;;);
    if (text === 'break') throw new Error('the worker broke');
    parentPort.postMessage({ id, lines: [[[text, null]]] });
  });
`;

function threads() {
  const started: Worker[] = [];
  onTestFinished(() => Promise.all(started.map((one) => one.terminate())).then(() => {}));
  const start: StartHighlighter = ({ answer, broke }) => {
    const thread = new Worker(source, { eval: true });
    started.push(thread);
    thread.on('message', answer);
    thread.on('error', broke);
    return { send: (request) => thread.postMessage(request), end: () => void thread.terminate() };
  };
  return { start, started };
}

test('a block that takes for ever stays plain, and those behind it are coloured by a new worker', async () => {
  const { start, started } = threads();
  const highlight = createHighlightQueue(start, 3000);
  const [first, endless, last] = await Promise.all([
    highlight('first', 'js'),
    highlight('for ever', 'js'),
    highlight('last', 'js'),
  ]);
  expect(first).toEqual([[['first', null]]]);
  expect(endless).toBeNull();
  expect(last).toEqual([[['last', null]]]);
  expect(started).toHaveLength(2);
});

test('a worker that breaks costs its block and no other', async () => {
  const { start, started } = threads();
  const highlight = createHighlightQueue(start, 60_000);
  const answers = await Promise.all([highlight('break', 'js'), highlight('next', 'js')]);
  expect(answers).toEqual([null, [[['next', null]]]]);
  expect(await highlight('again', 'js')).toEqual([[['again', null]]]);
  expect(started).toHaveLength(2);
});
