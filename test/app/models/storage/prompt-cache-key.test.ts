import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPromptCacheKey } from '../../../../app/models/storage/prompt-cache-key.ts';
import { newFolder } from '../../../support/core/core.ts';

const cipher = {
  seal: async (text: string) => `sealed ${text.split('').reverse().join('')}`,
  open: async (sealed: string) => sealed.slice('sealed '.length).split('').reverse().join(''),
};
const refuses = { seal: () => Promise.reject(new Error('locked')), open: () => Promise.reject(new Error('locked')) };
const fileIn = () => join(newFolder(), 'prompts.key');

test('a key is made once, 256 bits of it, and comes back from a file that only its owner can read', async () => {
  const file = fileIn();
  const made = createPromptCacheKey(file, cipher);
  expect(made.current()).toBe(null);
  expect(await made.open()).toBe('encrypted');
  const key = made.current()?.key as string;
  expect(Buffer.from(key, 'base64')).toHaveLength(32);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).not.toContain(key);
  const again = createPromptCacheKey(file, cipher);
  expect(await again.open()).toBe('encrypted');
  expect(again.current()).toEqual({ key });
  const other = createPromptCacheKey(fileIn(), cipher);
  await other.open();
  expect(other.current()?.key).not.toBe(key);
});

test('without a keychain and without a key there is nothing to encrypt with, and no file', async () => {
  const file = fileIn();
  const none = createPromptCacheKey(file, null);
  expect(none.current()).toEqual({ key: null });
  expect(await none.open()).toBe('private');
  expect(existsSync(file)).toBe(false);
});

test.each([
  ['no keychain', null, 'sealed'],
  ['a keychain that refuses', refuses, 'sealed'],
  ['a keychain of somebody else', { ...cipher, open: async () => 'c2hvcnQ=' }, 'sealed'],
  ['a damaged file', cipher, ''],
] as const)('a key that does not come back stays where it is, and nothing is used: %s', async (_name, shell, text) => {
  const file = fileIn();
  writeFileSync(file, text);
  const key = createPromptCacheKey(file, shell);
  expect(key.current()).toBe(null);
  expect(await key.open()).toBe('locked');
  expect(key.current()).toBe(null);
  expect(readFileSync(file, 'utf8')).toBe(text);
  key.forget();
  expect(existsSync(file)).toBe(false);
  const next = shell === refuses ? 'locked' : shell === null ? 'private' : 'encrypted';
  expect(await key.open()).toBe(next);
  expect(existsSync(file)).toBe(shell !== null && shell !== refuses);
});

test('a folder in place of the file, and a disk that keeps nothing: nothing is used', async () => {
  const file = fileIn();
  mkdirSync(file);
  expect(await createPromptCacheKey(file, cipher).open()).toBe('locked');
  expect(await createPromptCacheKey(join(file, 'none', 'prompts.key'), cipher).open()).toBe('locked');
});

test('while the keychain asks its user, nothing is used; a key that was forgotten meanwhile is not kept', async () => {
  const file = fileIn();
  const answers: (() => void)[] = [];
  const slow = {
    ...cipher,
    seal: async (text: string) => {
      await new Promise<void>((answer) => answers.push(answer));
      return cipher.seal(text);
    },
  };
  const key = createPromptCacheKey(file, slow);
  const first = key.open();
  expect(key.current()).toBe(null);
  key.forget();
  answers[0]?.();
  await first;
  expect(key.current()).toBe(null);
  expect(existsSync(file)).toBe(false);
  const second = key.open();
  answers[1]?.();
  expect(await second).toBe('encrypted');
  expect(readFileSync(file, 'utf8')).toBe(await cipher.seal(key.current()?.key as string));
});
