import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { newFolder, root } from '../../../support/core/core.ts';
import { asNobody, isRoot } from '../../../support/second-user.ts';

function serve(...flags: string[]) {
  const child = spawn(process.execPath, [join(root, 'app/cli/main.ts'), 'serve', '--data', newFolder(), ...flags], {
    env: { ...process.env, LONGHAND_ROOT: root, npm_lifecycle_event: undefined, INIT_CWD: undefined },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const errors: string[] = [];
  createInterface(child.stderr).on('line', (line) => errors.push(line));
  return { child, errors, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
}

test('one line of JSON says where and with which key; a model outside the list is served; Ctrl-C ends it', async () => {
  const { child, lines } = serve('--port', '0', '--model', join(root, 'test/golden/qwen3/qk_norm_tied'));
  const { address, key, model, models } = JSON.parse((await lines.next()).value ?? '{}');
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(key).toMatch(/^lh-[\w-]{32}$/);
  expect(models).toContain(model);
  const asked = await fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect(asked.status).toBe(200);
  const { data } = (await asked.json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(models);
  expect((await fetch(`${address}/api/version`)).status).toBe(401);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
  await expect(fetch(address)).rejects.toThrow();
}, 60_000);

test('--no-key lets in every program of this user, and of no other, and a wrong use is one sentence', async () => {
  const { child, lines } = serve('--port', '0', '--no-key');
  const { address, key } = JSON.parse((await lines.next()).value ?? '{}');
  expect(key).toBeNull();
  expect((await fetch(`${address}/api/version`)).status).toBe(200);
  if (process.platform === 'linux' && isRoot) {
    const asked = asNobody('console.log((await fetch(process.argv[1])).status)', [`${address}/api/version`]);
    expect(asked.stdout.trim(), asked.stderr).toBe('403');
  }
  child.kill('SIGINT');
  await once(child, 'exit');
  for (const [flags, sentence] of [
    [['--port', '70000'], '[--port] got 70000, expected a port from 0 to 65535'],
    [['--key', 'short'], '[--key] a key has at least 8 letters, digits or signs, and no spaces'],
    [['--network', '--no-key'], '[serve] --network needs a key: leave out --no-key'],
    [['--network-port', '4000'], '[serve] --network-port, --certificate and --certificate-key need --network'],
    [['--network', '--certificate', 'a.pem'], '[serve] --certificate and --certificate-key go together'],
    [['--network', '--network-port', '-1'], '[--network-port] got -1, expected a port from 0 to 65535'],
    [['--origin', 'chat.example'], '[--origin] got "chat.example", expected the origin of a page'],
    [['--key', 'long-enough', '--no-key'], '[serve] give either --key or --no-key'],
  ] as const) {
    const wrong = serve(...flags);
    expect(await once(wrong.child, 'exit')).toEqual([2, null]);
    expect(wrong.errors.join('\n')).toContain(sentence);
  }
}, 60_000);

test('--network says where other devices connect and what they have to trust; what keeps them out ends it', async () => {
  const { child, lines } = serve('--port', '0', '--network', '--network-port', '0');
  const { address, network } = JSON.parse((await lines.next()).value ?? '{}');
  expect(address).toMatch(/^http:/);
  expect(network.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  for (const one of network.addresses) expect(one).toMatch(/^https:\/\/\S+:\d+$/);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
  const missing = serve('--port', '0', '--network', '--certificate', '/none.pem', '--certificate-key', '/none.key');
  expect((await once(missing.child, 'exit'))[0]).not.toBe(0);
  expect(missing.errors.join('\n')).toContain('/none.pem');
}, 60_000);
