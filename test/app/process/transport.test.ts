// The channels between processes: what is sent arrives, the end is heard, and after it nothing is sent.
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { forkChild } from '../../../app/process/fork-child.ts';
import { type MessagePortLike, pipeOfMessagePort } from '../../../app/process/transport.ts';

/** A process of ours that does this. */
function child(body: string) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'child.mjs');
  const transport = JSON.stringify(join(import.meta.dirname, '../../../app/process/transport.ts'));
  writeFileSync(file, `import { pipeToParent } from ${transport};\nconst pipe = pipeToParent();\n${body}`);
  const started = forkChild<string, string>(file, ['given'], { output: 'ignore', errors: 'pipe' });
  onTestFinished(started.kill);
  const heard: string[] = [];
  const waiting: (() => void)[] = [];
  started.pipe.onMessage((message) => {
    heard.push(message);
    for (const go of waiting.splice(0)) go();
  });
  const until = async (count: number) => {
    while (heard.length < count) await new Promise<void>((go) => waiting.push(go));
    return heard;
  };
  return { ...started, until };
}

test('a child hears and answers; it ends when the pipe is closed, and both are told', async () => {
  const { pipe, ended, until } = child(`
    pipe.send(process.argv[2]);
    pipe.onMessage((text) => pipe.send(text + '!'));
    pipe.onClose(() => process.exit(7));`);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  pipe.onClose(resolve);
  pipe.send('a');
  pipe.send('b');
  expect(await until(3)).toEqual(['given', 'a!', 'b!']);
  pipe.close();
  await closed;
  expect(await ended).toEqual({ how: 'code 7', lastWords: '' });
  // After its end nothing is sent, and who asks late is told at once.
  pipe.send('c');
  pipe.close();
  await new Promise<void>(pipe.onClose);
});

test('a child that closes from its side is heard too; one that is killed says by which signal', async () => {
  const polite = child(`pipe.close(); pipe.close(); pipe.send('late'); pipe.onClose(() => process.exit(3));`);
  await new Promise<void>(polite.pipe.onClose);
  expect((await polite.ended).how).toBe('code 3');
  const killed = child(`pipe.send('up'); setInterval(() => {}, 1000);`);
  await killed.until(1);
  killed.kill();
  expect((await killed.ended).how).toBe('signal SIGKILL');
});

test('a port of Electron is started once it is listened to, and nothing is posted once it is closed by either side', async () => {
  const port = () => {
    const events = new EventEmitter();
    const log: unknown[] = [];
    const made = {
      postMessage: (message: unknown) => void log.push(message),
      on: (name: string, listener: (event: { data: unknown }) => void) => events.on(name, listener),
      start: () => void log.push('started'),
      close: () => void log.push('closed'),
    } as MessagePortLike;
    return { events, log, pipe: pipeOfMessagePort<string, string>(made) };
  };
  const { events, log, pipe } = port();
  const heard: string[] = [];
  pipe.send('a');
  pipe.onMessage((message) => heard.push(message));
  events.emit('message', { data: 'b' });
  expect([heard, log.splice(0)]).toEqual([['b'], ['a', 'started']]);
  const closed = new Promise<void>(pipe.onClose);
  events.emit('close');
  await closed;
  await new Promise<void>(pipe.onClose);
  pipe.send('c');
  expect(log).toEqual([]);
  const own = port();
  own.pipe.close();
  own.pipe.send('d');
  expect(own.log).toEqual(['closed']);
  await new Promise<void>(own.pipe.onClose);
});
