// A process or worker thread that ends while the engine works, and objects that are dropped, must not crash anything.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { repository } from '../../support/addon.ts';
import { starter } from '../../support/models/models.ts';

const begin = `
  const { createRequire } = require('node:module');
  const addon = require(${JSON.stringify(`${repository}/build/native/Release/longhand.node`)});
  const start = async (length = 6000) => {
    const prompt = Int32Array.from({ length }, (_, i) => 3 + (i % 97));
    const model = await addon.load(${JSON.stringify(starter)});
    const session = model.createSession();
    return session.generate(prompt, { maxTokens: length === 300 ? 5 : 1000, onTokens: () => {}, onPrefill: () => {} });
  };`;

const run = (script: string) =>
  spawnSync(process.execPath, ['--expose-gc', '-e', `${begin}\n${script}`], { encoding: 'utf8', timeout: 20_000 });

test('process.exit in the middle of a prefill', () => {
  const { status, signal } = run(`start(); setTimeout(() => process.exit(7), 150);`);
  expect({ status, signal }).toEqual({ status: 7, signal: null });
});

test('an uncaught exception in a callback does not take the process down without its message', () => {
  const { status, stderr, signal } = run(`
    start().catch(() => {});
    setTimeout(() => { throw new Error('from JavaScript'); }, 100);`);
  expect(signal).toBe(null);
  expect(status).toBe(1);
  expect(stderr).toContain('from JavaScript');
});

test('a worker thread that is terminated in the middle of work', () => {
  const { status, stdout, signal } = run(`
    const { Worker } = require('node:worker_threads');
    const body = ${JSON.stringify(begin)} + 'start();';
    (async () => {
      let left = 0;
      for (let i = 0; i < 10; i++) {
        const worker = new Worker(body, { eval: true });
        // Not while it still loads its code. The counter is of the whole process: of what goes on behind the end of its thread, too.
        while (addon.pulse().running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        await new Promise((resolve) => setTimeout(resolve, 120 + 10 * i));
        await worker.terminate();
        left += addon.pulse().running;
      }
      console.log('alive', left);
    })();`);
  expect({ status, signal }).toEqual({ status: 0, signal: null });
  expect(stdout).toContain('alive 0');
});

test('objects that nobody holds any more finish their work and go', () => {
  const { status, stdout, signal } = run(`
    (async () => {
      const done = start(300);
      for (let i = 0; i < 10; i++) { globalThis.gc(); await new Promise((resolve) => setTimeout(resolve, 20)); }
      const { finish, tokens } = await done;
      console.log(finish, tokens.length);
    })();`);
  expect({ status, signal }).toEqual({ status: 0, signal: null });
  expect(stdout.trim()).toBe('length 5');
});
