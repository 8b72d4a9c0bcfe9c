// Work in a process of its own: what the process is told, and that one that ends is replaced.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRequestProcess } from '../../../app/process/request-process.ts';

/** A process that does `first`, and answers by `body`, which sees `id` and `request`. */
function started(body: string, first = '') {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'process.mjs');
  writeFileSync(file, `${first}\nprocess.on('message', ({ id, request }) => { ${body} });`);
  const made = createRequestProcess<string, string | null>({
    file,
    timeLimitMs: 20_000,
    silentEnd: 'it ended',
    failed: (reason) => new Error(reason),
  });
  onTestFinished(() => made.close());
  return made;
}

test.each([
  ['in Electron, whose binary is the app, it is told to be Node', '40.0.0', '1'],
  ['in Node it is told nothing', undefined, null],
])('%s', async (_, electron, told) => {
  const { versions } = process;
  Object.defineProperty(process, 'versions', { value: { ...versions, ...(electron && { electron }) } });
  onTestFinished(() => void Object.defineProperty(process, 'versions', { value: versions }));
  const { ask } = started('process.send({ id, reply: process.env.ELECTRON_RUN_AS_NODE ?? null })');
  expect(await ask('')).toBe(told);
});

test('one that is warmed runs before the first request', async () => {
  const mark = join(mkdtempSync(join(tmpdir(), 'longhand-test-')), 'up');
  onTestFinished(() => rmSync(dirname(mark), { recursive: true, force: true }));
  const { warm } = started('', `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, '');`);
  warm();
  await vi.waitFor(() => expect(existsSync(mark)).toBe(true), { timeout: 20_000 });
});

test('a request of which the process dies fails alone; the next has another process', async () => {
  const { ask } = started(`request === 'die' ? process.exit(1) : process.send({ id, reply: request })`);
  const [first, second, third] = await Promise.allSettled([ask('a'), ask('die'), ask('b')]);
  expect([first, third]).toMatchObject([{ value: 'a' }, { value: 'b' }]);
  expect(second).toMatchObject({ status: 'rejected', reason: { message: 'it ended' } });
});
