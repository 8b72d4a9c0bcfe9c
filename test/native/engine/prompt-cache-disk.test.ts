// The prompt cache on disk: what one process has read the next one does not read again, bit for bit, whatever happened to
// the files in between.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { NumericPath } from '../../../native/addon/index.d.ts';
import { repository } from '../../support/addon.ts';
import { newFolder } from '../../support/core/core.ts';
import {
  ask,
  chatOf,
  filesIn,
  hybrid,
  known,
  MB,
  message,
  plain,
  readOnce,
  started,
} from '../../support/disk-cache.ts';
import { families, someTokens } from '../../support/models/models.ts';
import { END, statesOf } from '../../support/models/prompt-trees.ts';
import { limitMs, runs } from '../../support/soak.ts';

const paths: NumericPath[] = ['exact', 'fast'];

describe.each(families)('%s', (_name, path) => {
  test.each(paths)('after a restart: the same as cold, bit for bit (%s)', async (numbers) => {
    const folder = newFolder();
    const chat = chatOf(2);
    const options = { path: numbers, owner: 'chat' };
    const first = await started(path, folder);
    await ask(first.createSession({ contextLength: 2048 }), chat, options);
    await first.flushPromptCache();
    first.close();
    const [again, cold] = [await started(path, folder), await started(path, null)];
    const [warmed, read] = [again.createSession({ contextLength: 2048 }), cold.createSession({ contextLength: 2048 })];
    const next = [...chat, ...message(30, 9)];
    const [one, other] = [await ask(warmed, next, { path: numbers }), await ask(read, next, { path: numbers })];
    expect(one.timings.cachedTokens).toBe(chat.length);
    expect(one.reuse.reason).toBe('nothing');
    expect(other.timings.cachedTokens).toBe(0);
    expect(one.tokens).toEqual(other.tokens);
    expect(await statesOf(warmed)).toEqual(await statesOf(read));
    const asked = {
      maxTokens: 3,
      logprobs: 4,
      path: numbers,
      stopTokens: [END],
    };
    const [a, b] = [
      await ask(warmed, [...next, ...message(9, 3)], asked),
      await ask(read, [...next, ...message(9, 3)], asked),
    ];
    expect(a.tokens).toEqual(b.tokens);
    again.close();
    cold.close();
  });
});

describe('whose it is', () => {
  test('nothing is written for nobody, files are private, and go with their owner alone', async () => {
    const folder = newFolder();
    const model = await started(hybrid, folder);
    const session = model.createSession({ contextLength: 2048 });
    await ask(session, chatOf(2));
    await model.flushPromptCache();
    expect(filesIn(folder)).toEqual([]);
    await ask(session, chatOf(3), { owner: 'one' });
    await ask(session, chatOf(4), { owner: 'other' });
    await model.flushPromptCache();
    const owners = new Set(filesIn(folder).map((path) => basename(dirname(path))));
    expect([...owners].sort()).toEqual(['one', 'other']);
    for (const path of filesIn(folder)) {
      expect(statSync(path).mode & 0o777, path).toBe(0o600);
      expect(statSync(dirname(path)).mode & 0o777, path).toBe(0o700);
    }
    await model.erasePromptCache('one');
    expect(filesIn(folder).filter((path) => path.includes('one'))).toEqual([]);
    model.close();
    const again = await started(hybrid, folder);
    expect(await known(again, chatOf(3))).toBeLessThan(chatOf(3).length);
    await again.clearPromptCache();
    expect(filesIn(folder)).toEqual([]);
    expect(again.promptCache()).toMatchObject({
      diskBytes: 0,
      diskBudgetBytes: 256 * MB,
    });
    expect(() => again.erasePromptCache('../up')).toThrow('owner');
    again.close();
  });

  test('what was erased and begun by others too is written again with them', async () => {
    const folder = newFolder();
    const model = await started(hybrid, folder);
    const session = model.createSession({ contextLength: 2048 });
    await ask(session, chatOf(3), { owner: 'one' });
    await model.flushPromptCache();
    await model.erasePromptCache('one');
    await ask(session, chatOf(4), { owner: 'other' });
    await model.flushPromptCache();
    model.close();
    const again = await started(hybrid, folder);
    expect(await known(again, chatOf(4))).toBe(chatOf(4).length);
    again.close();
  });
});

describe('what is not the same is not used', () => {
  test('another path, another type of cache, other instructions', async () => {
    const folder = newFolder();
    await readOnce(hybrid, folder);
    const model = await started(hybrid, folder);
    expect(await known(model, chatOf(2), { path: 'exact' })).toBe(0);
    const small = model.createSession({ contextLength: 2048, kvType: 'q8' });
    expect((await ask(small, chatOf(2))).timings.cachedTokens).toBe(0);
    expect(await known(model)).toBe(chatOf(2).length);
    model.close();
    if (process.arch !== 'x64') return;
    const other = await started(hybrid, folder, { cpu: 'sse4.2' });
    expect(await known(other)).toBe(0);
    other.close();
  });

  test('a model that was replaced under the same path', async () => {
    const [folder, copy] = [newFolder(), join(newFolder(), 'model')];
    mkdirSync(copy);
    for (const name of readdirSync(hybrid)) {
      if (statSync(join(hybrid, name)).isFile()) writeFileSync(join(copy, name), readFileSync(join(hybrid, name)));
    }
    await readOnce(copy, folder);
    const weights = join(copy, 'model.safetensors');
    const { atime, mtime } = statSync(weights);
    const bytes = readFileSync(weights);
    for (let at = Math.floor(bytes.length / 2); at < bytes.length; at += 16) bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(weights, bytes);
    utimesSync(weights, atime, mtime); // of the same size and time
    const replaced = await started(copy, folder);
    expect(await known(replaced)).toBe(0);
    replaced.close();
  });

  test('what another build has left is deleted', async () => {
    const folder = newFolder();
    await readOnce(hybrid, folder);
    const [build = ''] = readdirSync(folder);
    renameSync(join(folder, build), join(folder, '0123456789abcdef'));
    mkdirSync(join(folder, 'not-ours'));
    const model = await started(hybrid, folder);
    expect(await known(model)).toBe(0);
    expect(readdirSync(folder)).toEqual(['not-ours']);
    model.close();
  });

  test('a file that names another build', async () => {
    const folder = newFolder();
    await readOnce(plain, folder);
    for (const path of filesIn(folder)) {
      const bytes = readFileSync(path);
      bytes[8] = (bytes[8] as number) ^ 1;
      writeFileSync(path, bytes);
    }
    const model = await started(plain, folder);
    expect(await known(model)).toBe(0);
    model.close();
  });
});

describe('damage', () => {
  test.each([hybrid, plain])('flipped bytes, short and empty files are misses, and are gone (%#)', async (path) => {
    const folder = newFolder();
    await readOnce(path, folder);
    const cold = await started(path, null);
    const expected = await ask(cold.createSession({ contextLength: 2048 }), chatOf(2));
    cold.close();
    // The states after the first message are not: those after the last one are.
    const isNeeded = (name: string) =>
      name.endsWith('.rows') || readFileSync(name.replace('.states', '.rows')).readUInt32LE(24) !== 40;
    const count = filesIn(folder).length;
    expect(count).toBeGreaterThan(2);
    const places = [0, 9, 17, 40, 60, 75, 90, 0.3, 0.6, 0.999];
    for (let at = 0; at < places.length + 2; at++) {
      const whole = filesIn(folder).flatMap((name) => (isNeeded(name) ? [[name, readFileSync(name)] as const] : []));
      const [name, bytes] = whole[at % whole.length] as (typeof whole)[number];
      const place = places[at] ?? 0;
      const damaged = Buffer.from(bytes);
      const byte = place < 1 && place > 0 ? Math.floor(bytes.length * place) : place;
      damaged[byte] = (damaged[byte] as number) ^ 0x10;
      writeFileSync(
        name,
        at < places.length ? damaged : bytes.subarray(0, at === places.length ? 0 : bytes.length - 1),
      );
      const model = await started(path, folder);
      const result = await ask(model.createSession({ contextLength: 2048 }), chatOf(2), { owner: 'chat' });
      expect(result.tokens).toEqual(expected.tokens);
      expect(result.timings.cachedTokens).toBeLessThan(chatOf(2).length);
      await model.flushPromptCache();
      // Read again, it was written again.
      expect(await known(model)).toBe(chatOf(2).length);
      model.close();
      expect(filesIn(folder).length).toBe(count);
    }
  });

  test('killed while it writes: the next one starts, and answers as cold', {
    timeout: limitMs(120_000, 10),
  }, async () => {
    const folder = newFolder();
    const cold = await started(hybrid, null);
    let found = 0;
    for (let kill = 0; kill < runs(6, 10); kill++) {
      const child = fork(
        join(repository, 'test/support/processes/disk-tier-process.ts'),
        [hybrid, folder, String(100 * kill)],
        {
          execArgv: [],
        },
      );
      const ended = once(child, 'exit');
      await once(child, 'message');
      await wait(10 + 17 * (kill % 6));
      child.kill('SIGKILL');
      await ended;
      const model = await started(hybrid, folder);
      expect(filesIn(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
      for (const chat of [0, 1]) {
        const prompt = [...someTokens(40, 1), END, ...someTokens(700, 100 * kill + chat), END];
        const [one, other] = [
          await ask(model.createSession({ contextLength: 2048 }), prompt),
          await ask(cold.createSession({ contextLength: 2048 }), prompt, {
            cachePrompt: false,
          }),
        ];
        expect(one.tokens).toEqual(other.tokens);
        found += one.timings.cachedTokens;
      }
      model.close();
    }
    expect(found).toBeGreaterThan(0);
    cold.close();
  });
});

describe('room', () => {
  test('the budget is kept; what was used last stays, from its first message on', async () => {
    const folder = newFolder();
    const one = await readOnce(hybrid, newFolder());
    const model = await started(hybrid, folder, { bytes: 3 * one });
    const session = model.createSession({ contextLength: 2048 });
    for (let chat = 0; chat < 12; chat++) {
      await ask(session, chatOf(100 + chat), { owner: `chat-${chat}` });
      await model.flushPromptCache();
      expect(model.promptCache().diskBytes).toBeLessThanOrEqual(3 * one);
      // The oldest is used every time, and stays.
      await ask(session, chatOf(100), { owner: 'chat-0' });
    }
    const { diskBytes } = model.promptCache();
    expect(filesIn(folder).reduce((sum, path) => sum + statSync(path).size, 0)).toBe(diskBytes);
    model.close();
    const again = await started(hybrid, folder, { bytes: 3 * one });
    expect(await known(again, chatOf(100))).toBe(chatOf(100).length);
    expect(await known(again, chatOf(111))).toBe(chatOf(111).length);
    expect(await known(again, chatOf(103))).toBeLessThanOrEqual(40);
    await again.setPromptCacheDisk({ folder, bytes: one });
    expect(again.promptCache().diskBytes).toBeLessThanOrEqual(one);
    again.close();
  });

  test('a clock that was a year ahead and is right again: what was used since stays, what is from then goes', async () => {
    const folder = newFolder();
    const one = await readOnce(hybrid, folder, chatOf(100), 'then');
    const ahead = new Date(Date.now() + 365 * 24 * 3600 * 1000);
    for (const path of filesIn(folder)) utimesSync(path, ahead, ahead);
    // Room for one chat and the half of another: the newer one has to take the place of the older.
    for (const chat of [101, 102]) {
      expect(await readOnce(hybrid, folder, chatOf(chat), `now-${chat}`, { bytes: 1.5 * one })).toBeLessThan(1.5 * one);
      const model = await started(hybrid, folder, { bytes: 1.5 * one });
      expect(await known(model, chatOf(chat))).toBe(chatOf(chat).length);
      model.close();
    }
  });

  test('of five hundred chats each begins from the system prompt they share, and the last ones are known', async () => {
    const folder = newFolder();
    const chat = (seed: number) => [...message(40, 1), ...message(30, seed)];
    let model = await started(hybrid, folder, { bytes: 4 * MB });
    const session = model.createSession({ contextLength: 2048 });
    for (let seed = 0; seed < 500; seed++) {
      const { timings } = await ask(session, chat(1000 + seed), { owner: `chat-${seed}`, maxTokens: 1 });
      if (seed > 0) expect(timings.cachedTokens).toBe(40);
      expect(model.promptCache().diskBytes).toBeLessThanOrEqual(4 * MB);
    }
    await model.flushPromptCache();
    model.close();
    model = await started(hybrid, folder, { bytes: 4 * MB });
    for (const seed of [499, 498, 497]) expect(await known(model, chat(1000 + seed))).toBe(70);
    model.close();
  });

  test('a budget smaller than one state, and a folder that is none, keep nothing and harm nothing', async () => {
    const folder = newFolder();
    const model = await started(hybrid, folder, { bytes: 100 });
    expect(await known(model, chatOf(2), { owner: 'chat' })).toBe(0);
    await model.flushPromptCache();
    expect(filesIn(folder)).toEqual([]);
    const file = join(newFolder(), 'file');
    writeFileSync(file, 'mine');
    await model.setPromptCacheDisk({ folder: file, bytes: MB });
    await ask(model.createSession({ contextLength: 2048 }), chatOf(3), {
      owner: 'chat',
    });
    await model.flushPromptCache();
    expect(readFileSync(file, 'utf8')).toBe('mine');
    model.close();
  });

  test('memory too small for what is on disk: as much as fits, and the same answer', async () => {
    const folder = newFolder();
    await readOnce(hybrid, folder);
    const [model, cold] = [await started(hybrid, folder), await started(hybrid, null)];
    const expected = await ask(cold.createSession({ contextLength: 2048 }), chatOf(2));
    for (const bytes of [1, 10_000, 100_000, 300_000]) {
      model.setPromptCache(bytes);
      const result = await ask(model.createSession({ contextLength: 2048 }), chatOf(2));
      expect(result.tokens, `${bytes}`).toEqual(expected.tokens);
    }
    model.close();
    cold.close();
  });

  const alone = ['--user', '--map-root-user', '--mount'];
  const mounting = (size: string, folder: string) => [
    ...alone,
    'sh',
    '-c',
    `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`,
    folder,
  ];

  test('a full disk: nothing half is left, and the answers go on', async (context) => {
    if (process.platform !== 'linux') return context.skip('needs Linux: a small disk in memory');
    const folder = newFolder();
    if (spawnSync('unshare', [...mounting('4m', folder), 'true']).status !== 0)
      return context.skip('needs a mount of its own: unshare and mount are not permitted here');
    const program = join(repository, 'test/support/processes/full-prompt-cache-process.ts');
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      [...mounting('4m', folder), process.execPath, program, hybrid, folder],
      { encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
    const { parts, bytes, answers, free } = JSON.parse(stdout);
    expect(parts).toEqual([]);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(4 * MB);
    expect(free).toBeGreaterThan(0);
    expect(answers).toBe(20);
  });
});

test('switched off, what is there stays where it is', async () => {
  const folder = newFolder();
  await readOnce(hybrid, folder);
  const before = filesIn(folder).length;
  const model = await started(hybrid, null);
  expect(await known(model)).toBe(0);
  expect(model.promptCache()).toMatchObject({
    diskBytes: 0,
    diskBudgetBytes: 0,
  });
  expect(filesIn(folder).length).toBe(before);
  model.close();
  expect(existsSync(folder)).toBe(true);
  chmodSync(folder, 0o700);
});
