import { expect, test } from 'vitest';
import { createProgramTransport } from '../../../app/tools/mcp/program-transport.ts';
import { collectUncaught } from '../../support/full-disk.ts';

//  What a tool server writes last, while it is ending.

const uncaught = collectUncaught();

/** A program that ends at once; what it has started, in a group of its own, runs `script` with its pipes. */
async function ending(script: string) {
  const args = [
    '-e',
    `require('child_process').spawn('sh', ['-c', ${JSON.stringify(script)}], { detached: true, stdio: 'inherit' }).unref(); process.exit(7);`,
  ];
  const [messages, notes] = [[] as unknown[], [] as string[]];
  const transport = createProgramTransport({ command: process.execPath, args, env: {} }, (line) => notes.push(line));
  let closed = 0;
  const over = new Promise<void>((resolve) => {
    transport.onclose = () => {
      closed++;
      resolve();
    };
  });
  transport.onmessage = (message) => messages.push(message);
  const began = performance.now();
  await transport.start();
  await over;
  return { messages, notes, ended: transport.ended?.message, took: performance.now() - began, closed: () => closed };
}

const RESULT = '{"jsonrpc":"2.0","id":1,"result":{}}';

test('counts: the result of a call, and the reason in its log', async () => {
  const { messages, notes, ended } = await ending(`sleep 0.1; echo '${RESULT}'; echo 'no key was given' >&2`);
  expect(messages).toEqual([JSON.parse(RESULT)]);
  expect(notes).toEqual(['no key was given']);
  expect(ended).toContain('exit code 7');
});

test('is waited for as long as words take, and told once', async () => {
  const { messages, took, closed } = await ending(`sleep 3; echo '${RESULT}'`);
  expect(messages).toEqual([]);
  expect(took).toBeLessThan(2500);
  await new Promise((resolve) => setTimeout(resolve, 3500 - took));
  expect([closed(), messages]).toEqual([1, []]);
});

test('a program that has ended, or was never started, is closed at once', { timeout: 10_000 }, async () => {
  const made = () =>
    createProgramTransport({ command: process.execPath, args: ['-e', 'process.exit(7)'], env: {} }, () => {});
  await made().close();
  const transport = made();
  const over = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await over;
  await transport.close();
  expect(transport.ended?.message).toContain('exit code 7');
});

test('what is sent to a program that has stopped listening takes nobody with it', async () => {
  const transport = createProgramTransport({ command: 'sh', args: ['-c', 'exec 0<&-; sleep 5'], env: {} }, () => {});
  await transport.start();
  for (let sent = 0; sent < 10; sent++) {
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await transport.close();
  expect(uncaught).toEqual([]);
});
