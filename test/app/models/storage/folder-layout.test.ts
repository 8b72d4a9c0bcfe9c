import fc from 'fast-check';
import { expect, test } from 'vitest';
import { building, isModelFolder } from '../../../../app/models/storage/blob-store.ts';
import { folderName } from '../../../../app/models/storage/folder-layout.ts';

const commit = '0123456789abcdef';
const file = (name: string) => ({ name, size: 1, sha256: null, etag: null });
const named = (repository: string, ...files: string[]) => folderName({ repository, commit, files: files.map(file) });

test('a repository gives a name that can be read', () => {
  expect(named('Qwen/Qwen3.5-0.8B', 'config.json', 'model.safetensors')).toBe('Qwen--Qwen3.5-0.8B@0123456789ab');
  expect(named('acme/tiny', 'tiny-Q4_K_M.gguf')).toMatch(/^acme--tiny@0123456789ab-Q4_K_M-[0-9a-f]{8}$/);
});

test('what would be called the same is told apart', () => {
  const names = [
    named('acme/tiny', 'base-Q4_K_M.gguf'),
    named('acme/tiny', 'chat-Q4_K_M.gguf'),
    named('https://host/x?y', 'x.gguf'),
    named('https://host/x_y', 'x.gguf'),
    named('/disk/a b', 'model.safetensors'),
    named('/disk/a_b', 'model.safetensors'),
    named(`https://host/${'a'.repeat(400)}`, 'x.gguf'),
    named(`https://host/b${'a'.repeat(400)}`, 'x.gguf'),
  ];
  expect(new Set(names).size).toBe(names.length);
});

test('any name becomes one that every file system takes, and that is known as ours', async () => {
  const part = fc.string({ unit: 'grapheme', maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(part, part, async (repository, gguf) => {
      const name = named(repository, `${gguf}.gguf`);
      expect(name).toMatch(/^[\w.@-]{10,200}$/);
      expect(name).not.toMatch(/^\.+$/);
      expect(await isModelFolder(building(`/nowhere/x${name}`))).toBe(true);
    }),
  );
});
