import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createConnection } from '../../../app/tools/mcp/connection.ts';
import { root } from '../../support/core/core.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';
import { type Answer, hostile, json, serve } from './hostile-tool-server.ts';
import { result, wrongAnswers } from './wrong-answers.ts';

//  HTTP tool servers that misbehave in every way, and programs that do not exit.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('toolServers');

const MAX_GROWTH = 400e6;
const MAX_STALL_MS = 200;
const SECRET = 'secret-of-the-server';

const tools = (count: number, tool: string) => `{"tools":[${Array.from({ length: count }, () => tool).join(',')}]}`;
const tool = (name: string, description: string, schema = '{"type":"object"}') =>
  `{"name":${JSON.stringify(name)},"description":${JSON.stringify(description)},"inputSchema":${schema}}`;

const lists: Readonly<Record<string, Answer>> = {
  'a hundred thousand tools': result(tools(100_000, tool('a', ''))),
  'a tool of megabytes': result(tools(1, tool('a', 'x'.repeat(8e6)))),
  'tools with names of prototypes': result(tools(3, tool('__proto__', ''))),
  'a schema of prototypes': result(tools(1, tool('a', '', '{"type":"object","__proto__":{"x":1}}'))),
  'pages without end': (response, { id }) =>
    json(response, {
      jsonrpc: '2.0',
      id,
      result: { tools: [], nextCursor: String(Math.random()) },
    }),
  'no list': result('{"tools":7}'),
};

test('servers at an address that answer wrongly', async () => {
  const visitors: string[] = [];
  const elsewhere = await serve((request, response) => {
    visitors.push(`${request.method} ${request.url} ${request.headers['x-key']}`);
    response.end('{}');
  });
  const attacks = [
    ...['initialize', 'tools/list'].flatMap((method) =>
      Object.entries(wrongAnswers(elsewhere)).map(([what, answer]) => ({
        what,
        method,
        answer,
        fails: true,
      })),
    ),
    ...Object.entries(lists).map(([what, answer]) => ({
      what,
      method: 'tools/list',
      answer,
      fails: false,
    })),
  ];
  for (const { what, method, answer, fails } of attacks) {
    await tally.refused(`${method}: ${what}`, async () => {
      const url = await hostile(method, answer);
      const connection = createConnection({
        version: '1',
        config: async () => ({ url, headers: { 'x-key': SECRET } }),
        fetch,
        changed: () => {},
        offered: () => {},
      });
      const stop = observe();
      const outcome = await Promise.race([
        connection.offer().then(
          ({ tools }) => tools.length,
          () => 'refused',
        ),
        new Promise<string>((late) => setTimeout(() => late('it is still being heard'), 5000)),
      ]);
      await connection.close();
      const { grown, stall } = stop();
      if (fails) expect(outcome).toBe('refused');
      else expect(outcome === 'refused' || Number(outcome) <= 200).toBe(true);
      expect(connection.log().join('').length).toBeLessThan(100_000);
      expect(connection.log().join('')).not.toContain(SECRET);
      expect(grown).toBeLessThan(MAX_GROWTH);
      expect(stall).toBeLessThan(MAX_STALL_MS);
      expect(visitors).toEqual([]);
    });
  }
  tally.settle();
});

/** Whether a process exists; a zombie counts as gone. */
function isThere(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

/** Programs that print their pid and ignore their input and signals. */
const DEAF: Readonly<Record<string, string>> = {
  'a program that reads nothing': 'echo $$ >&2; while :; do sleep 1; done',
  'one that ignores every signal it can': 'trap "" TERM HUP INT PIPE; echo $$ >&2; while :; do sleep 1; done',
  'one that has left another behind': 'sleep 600 <&- >&- & echo $! >&2; wait',
};

test('programs end with the core, also when it is killed', async () => {
  for (const [what, program] of Object.entries(DEAF)) {
    await tally.refused(what, async () => {
      const script = `const { createProgramTransport } = await import(process.argv[1]);
        const transport = createProgramTransport({ command: '/bin/sh', args: ['-c', process.argv[2]], env: {} },
          (line) => process.stdout.write(line + '\\n'));
        await transport.start();
        setInterval(() => {}, 1000);`;
      const file = join(root, 'app/tools/mcp/program-transport.ts');
      const core = spawn(process.execPath, ['--input-type=module', '-e', script, file, program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void core.kill('SIGKILL'));
      const [line] = await once(core.stdout, 'data');
      const pid = Number(String(line).trim());
      expect(isThere(pid)).toBe(true);
      core.kill('SIGKILL');
      await expect.poll(() => isThere(pid), { timeout: 5000 }).toBe(false);
    });
  }
  tally.settle();
});
