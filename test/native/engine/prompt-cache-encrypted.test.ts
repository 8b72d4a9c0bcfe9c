// The prompt cache on disk with a key: what comes back is the same, and what lies there says nothing and cannot be changed.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Model } from '../../../native/addon/index.d.ts';
import { newFolder } from '../../support/core/core.ts';
import {
  ask,
  chatOf,
  filesIn,
  forge,
  HEAD,
  hybrid,
  known,
  MB,
  message,
  plain,
  readOnce,
  started,
} from '../../support/disk-cache.ts';
import { families } from '../../support/models/models.ts';
import { statesOf } from '../../support/models/prompt-trees.ts';

const key = randomBytes(32);
const whole = chatOf(2).length;

test.each(families)('%s: after a restart the same as cold, bit for bit', async (_name, path) => {
  const folder = newFolder();
  await readOnce(path, folder, chatOf(2), 'chat', { key });
  const [again, cold] = [await started(path, folder, { key }), await started(path, null)];
  const [warmed, read] = [again.createSession({ contextLength: 2048 }), cold.createSession({ contextLength: 2048 })];
  const next = [...chatOf(2), ...message(30, 9)];
  const [one, other] = [await ask(warmed, next), await ask(read, next)];
  expect([one.timings.cachedTokens, other.timings.cachedTokens]).toEqual([whole, 0]);
  expect(one.tokens).toEqual(other.tokens);
  expect(await statesOf(warmed)).toEqual(await statesOf(read));
  again.close();
  cold.close();
});

describe('what lies on disk', () => {
  /** Eight bytes at every fourth place: tokens and numbers have four. */
  const wordsOf = (bytes: Buffer): bigint[] =>
    Array.from({ length: Math.max(0, Math.floor((bytes.length - 8) / 4)) }, (_, i) => bytes.readBigUInt64LE(4 * i));

  test.each([hybrid, plain])(
    'says nothing of tokens and numbers, and its names nothing of a prompt (%#)',
    async (path) => {
      const [open, sealed, again, elsewhere] = [newFolder(), newFolder(), newFolder(), newFolder()];
      await readOnce(path, open);
      const diskBytes = await readOnce(path, sealed, chatOf(2), 'chat', { key });
      await readOnce(path, again, chatOf(2), 'chat', { key });
      await readOnce(path, elsewhere, chatOf(2), 'chat', { key: randomBytes(32) });
      const secrets = new Set(filesIn(open).flatMap((name) => wordsOf(readFileSync(name).subarray(HEAD.size))));
      secrets.delete(0n);
      expect(secrets.size).toBeGreaterThan(1000);
      expect(filesIn(sealed).length).toBe(filesIn(open).length);
      expect(filesIn(sealed).reduce((sum, name) => sum + statSync(name).size, 0)).toBe(diskBytes);
      for (const name of filesIn(sealed)) {
        const bytes = readFileSync(name);
        expect(bytes.readUInt32LE(HEAD.encrypted)).toBe(1);
        expect(bytes.readBigUInt64LE(HEAD.content), 'a checksum of the content').toBe(0n);
        for (let shift = 0; shift < 4; shift++)
          expect(wordsOf(bytes.subarray(shift)).filter((word) => secrets.has(word))).toEqual([]);
      }
      const nonces = [sealed, again]
        .flatMap(filesIn)
        .map((name) => readFileSync(name).toString('hex', HEAD.nonce, HEAD.content));
      expect(new Set(nonces).size).toBe(nonces.length);
      // The same entry, encrypted twice.
      const [first = ''] = filesIn(sealed);
      const [one, other] = [sealed, again].map((folder) =>
        readFileSync(first.replace(sealed, folder)).subarray(HEAD.size),
      );
      const same = one?.filter((byte, at) => byte === other?.[at]).length ?? 0;
      expect(same / (one?.length ?? 0)).toBeLessThan(0.02);

      const names = [open, sealed, elsewhere].map((folder) =>
        filesIn(folder).map((name) => basename(name, extname(name))),
      );
      const builds = [open, sealed, elsewhere].map((folder) => readdirSync(folder));
      const all = [...names, ...builds].map((list) => [...new Set(list)]);
      expect(new Set(all.flat()).size).toBe(all.flat().length);
      const openNames = new Set((names[0] ?? []).flatMap((name) => [name.slice(0, 16), name.slice(16)]));
      for (const name of filesIn(sealed)) {
        const high = readFileSync(name).readBigUInt64LE(HEAD.name).toString(16).padStart(16, '0');
        expect(basename(name).startsWith(high)).toBe(true);
        expect(openNames.has(high)).toBe(false);
      }
    },
  );
});

describe('with another key', () => {
  test.each([
    ['another key', key, randomBytes(32)],
    ['none', key, undefined],
    ['a key where there was none', undefined, key],
  ])('%s: nothing is found, and the files are gone', async (_name, before, after) => {
    const folder = newFolder();
    await readOnce(plain, folder, chatOf(2), 'chat', before ? { key: before } : {});
    expect(filesIn(folder).length).toBeGreaterThan(0);
    const model = await started(plain, folder, after ? { key: after } : {});
    expect(filesIn(folder)).toEqual([]);
    expect(await known(model)).toBe(0);
    model.close();
  });

  test('changed while a model is loaded; the same key again changes nothing but the limit', async () => {
    const folder = newFolder();
    const model = await started(plain, folder, { key });
    await ask(model.createSession({ contextLength: 2048 }), chatOf(2), { owner: 'chat' });
    await model.flushPromptCache();
    const files = filesIn(folder);
    await model.setPromptCacheDisk({ folder, bytes: 100 * MB, key: Uint8Array.from(key) });
    expect(filesIn(folder)).toEqual(files);
    expect(model.promptCache().diskBudgetBytes).toBe(100 * MB);
    await model.setPromptCacheDisk({ folder, bytes: 100 * MB, key: randomBytes(32) });
    expect(filesIn(folder)).toEqual([]);
    expect(model.promptCache().diskBytes).toBe(0);
    model.close();
  });

  test('of a wrong length or kind is refused, without its value', async () => {
    const model = await started(plain, null);
    const given = (wrong: unknown) => () =>
      model.setPromptCacheDisk({ folder: newFolder(), bytes: MB, key: wrong as Uint8Array });
    const expected = 'expected a Uint8Array of 32 bytes';
    expect(given(new Uint8Array(31))).toThrow(`[setPromptCacheDisk] key has 31 bytes, ${expected}`);
    expect(given(new Uint8Array(33))).toThrow(`[setPromptCacheDisk] key has 33 bytes, ${expected}`);
    for (const wrong of ['secret'.repeat(8), [1, 2], new Uint16Array(32), 7])
      expect(given(wrong)).toThrow(`[setPromptCacheDisk] key is of another kind, ${expected}`);
    model.close();
  });
});

describe('damage', () => {
  /** What is in memory goes, as when a process ends. */
  async function restarted(model: Model, folder: string, own: Uint8Array | null) {
    model.setPromptCache(0);
    await model.setPromptCacheDisk(null); // by now nothing is in memory
    model.setPromptCache(256 * MB);
    await model.setPromptCacheDisk({ folder, bytes: 256 * MB, key: own });
  }

  /** A store with one chat, and its longest entry. */
  async function filled(own: Uint8Array | null = key) {
    const folder = newFolder();
    await readOnce(plain, folder, chatOf(2), 'chat', own ? { key: own } : {});
    const files = filesIn(folder).map((name) => [name, readFileSync(name)] as const);
    const [name, bytes] = files.toSorted((a, b) => b[1].length - a[1].length)[0] as (typeof files)[number];
    const restore = () => {
      for (const [path, content] of files) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
    };
    return { folder, name, bytes, restore };
  }

  test('a byte flipped in any part, with or without a new checksum: a miss, and the file is gone', async () => {
    const { folder, name, bytes, restore } = await filled();
    const model = await started(plain, folder, { key });
    expect(await known(model)).toBe(whole);
    const size = bytes.length;
    const head = Array.from({ length: HEAD.size / 4 }, (_, i) => 4 * i);
    const content = [HEAD.size, 100, 2000, 3000, Math.floor(size / 2), size - 17];
    const tag = [16, 12, 9, 5, 1].map((back) => size - back);
    for (const at of [...head, 63, 71, 79, 87, ...content, ...tag]) {
      for (const forged of at < HEAD.checksum ? [false, true] : [false]) {
        restore();
        const flip = (of: Buffer) => of.writeUInt8(of.readUInt8(at) ^ 0x04, at);
        if (forged) forge(name, flip);
        else {
          const damaged = Buffer.from(bytes);
          flip(damaged);
          writeFileSync(name, damaged);
        }
        await restarted(model, folder, key);
        expect(await known(model), `byte ${at}${forged ? ', forged' : ''}`).toBeLessThan(whole);
        expect(existsSync(name), `byte ${at}${forged ? ', forged' : ''}`).toBe(false);
      }
    }
    restore();
    await restarted(model, folder, key);
    expect(await known(model)).toBe(whole);
    model.close();
  });

  test('cut anywhere, or longer: a miss, and the file is gone', async () => {
    const { folder, name, bytes, restore } = await filled();
    const model = await started(plain, folder, { key });
    const longer = Buffer.concat([bytes, Buffer.from([0])]);
    const cut = [0, 50, HEAD.size, 100, 5000, bytes.length - 17, bytes.length - 16, bytes.length - 1];
    for (const damaged of [...cut.map((length) => bytes.subarray(0, length)), longer]) {
      restore();
      writeFileSync(name, damaged);
      await restarted(model, folder, key);
      expect(await known(model), `${damaged.length} bytes`).toBeLessThan(whole);
      expect(existsSync(name), `${damaged.length} bytes`).toBe(false);
    }
    model.close();
  });

  test('a plain entry under the name of an encrypted one, and the other way round', async () => {
    const [sealed, open] = [await filled(), await filled(null)];
    const nameOf = (bytes: Buffer) => bytes.subarray(HEAD.name, HEAD.encrypted);
    for (const [to, from, own] of [
      [sealed, open, key],
      [open, sealed, null],
    ] as const) {
      writeFileSync(to.name, from.bytes);
      forge(to.name, (bytes) => nameOf(to.bytes).copy(bytes, HEAD.name));
      const model = await started(plain, to.folder, own ? { key: own } : {});
      expect(await known(model)).toBeLessThan(whole);
      expect(existsSync(to.name)).toBe(false);
      // Nor does it pass for one with the other mark.
      to.restore();
      writeFileSync(to.name, from.bytes);
      forge(to.name, (bytes) => {
        nameOf(to.bytes).copy(bytes, HEAD.name);
        to.bytes.copy(bytes, HEAD.encrypted, HEAD.encrypted, HEAD.nonce);
      });
      await restarted(model, to.folder, own);
      expect(await known(model)).toBeLessThan(whole);
      expect(existsSync(to.name)).toBe(false);
      model.close();
    }
  });

  test('an entry of one prompt is not taken for that of another', async () => {
    const { folder, name, bytes } = await filled();
    await readOnce(plain, folder, chatOf(3), 'other', { key });
    const other = filesIn(folder).find(
      (path) => path.includes('/other/') && statSync(path).size === bytes.length && path !== name,
    ) as string;
    const own = readFileSync(other);
    writeFileSync(other, bytes);
    forge(other, (forged) => own.copy(forged, HEAD.name, HEAD.name, HEAD.encrypted));
    const model = await started(plain, folder, { key });
    expect(await known(model, chatOf(3))).toBeLessThan(whole);
    expect(existsSync(other)).toBe(false);
    model.close();
  });

  test.each([
    ['without a key', null],
    ['with a key', key],
  ])('%s the same message of a chat that began otherwise is not taken for that of this one', async (_name, own) => {
    const folder = newFolder();
    const chats = [1, 2].map((first) => [...message(40, first), ...message(700, 5)]);
    for (const [i, chat] of chats.entries()) await readOnce(plain, folder, chat, `chat${i}`, own ? { key: own } : {});
    // Its tokens are the same, and so is its size: only what it has in front of it differs.
    const [taken = '', name = ''] = [0, 1].map((i) =>
      filesIn(folder)
        .filter((path) => path.includes(`/chat${i}/`))
        .reduce((longest, path) => (statSync(path).size > statSync(longest).size ? path : longest)),
    );
    writeFileSync(name, readFileSync(taken));
    const model = await started(plain, folder, own ? { key: own } : {});
    expect(await known(model, chats[1])).toBeLessThan(whole);
    expect(existsSync(name)).toBe(false);
    model.close();
  });
});
