// What a file or a folder that somebody named is opened as.
import { appendFileSync, mkdirSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { isBeingWritten, openedByFile, openedByFolder } from '../../../../app/models/storage/model-file.ts';
import { newFolder } from '../../../support/core/core.ts';

function place(files: Record<string, string>) {
  const folder = newFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, at: (name: string) => join(folder, name) };
}

test('a GGUF file is itself, also while it is empty; one by another name is linked, two of one name apart', async () => {
  const { folder, at } = place({
    'a.gguf': 'GGUF1',
    'b.GGUF': '\0\0\0\0',
    'my model.bin': 'GGUF',
    'x/my model.bin': 'GGUF',
  });
  const links = join(folder, 'links');
  expect(await openedByFile(at('a.gguf'), links)).toBe(at('a.gguf'));
  expect(await openedByFile(at('b.GGUF'), links)).toBe(at('b.GGUF'));
  const [first, again, other] = [
    await openedByFile(at('my model.bin'), links),
    await openedByFile(at('my model.bin'), links),
    await openedByFile(at('x/my model.bin'), links),
  ];
  expect(basename(first)).toMatch(/^my-model\.bin-[0-9a-f]{8}\.gguf$/);
  expect([again, readlinkSync(first), readlinkSync(other)]).toEqual([first, at('my model.bin'), at('x/my model.bin')]);
  expect(other).not.toBe(first);
});

test('a part of a model in a folder opens the folder; anything else is refused with how it begins', async () => {
  const { folder, at } = place({
    'model.safetensors': 'x',
    'config.json': '{}',
    'notes.txt': 'Dear diary',
    'c.gguf': 'GGML',
  });
  for (const name of ['model.safetensors', 'config.json']) expect(await openedByFile(at(name), folder)).toBe(folder);
  const refused = (path: string, what: string) =>
    expect(openedByFile(path, folder)).rejects.toMatchObject({
      code: 'unreadable',
      message: `[models] ${path} ${what}; a GGUF file, or a folder with config.json and safetensors is allowed`,
      details: { reason: 'not-a-model' },
    });
  await refused(at('notes.txt'), 'begins with "Dear"');
  await refused(at('c.gguf'), 'begins with "GGML"');
});

test('a folder is its only model: parts count once, a tower not at all', async () => {
  const one = place({ 'm-Q4_0-00001-of-00002.gguf': '', 'm-Q4_0-00002-of-00002.gguf': '', 'mmproj-F16.gguf': '' });
  expect(await openedByFolder(one.folder)).toBe(one.at('m-Q4_0-00001-of-00002.gguf'));
  const two = place({ 'a.gguf': '', 'b.gguf': '' });
  await expect(openedByFolder(two.folder)).rejects.toMatchObject({
    message: `[models] ${two.folder} holds 2 models; choose one of its files`,
    details: { reason: 'several-models' },
  });
  const none = place({ 'mmproj-F16.gguf': '' });
  await expect(openedByFolder(none.folder)).rejects.toThrow('has neither config.json nor a .gguf file');
  await expect(openedByFolder(none.at('gone'))).rejects.toMatchObject({ code: 'not-found' });
});

test('a file that grows while it is looked at is being written; one that rests, or is older than a minute, is not', async () => {
  const { folder, at } = place({ grows: 'x', rests: 'x', old: 'x' });
  const before = new Date(Date.now() - 61_000);
  utimesSync(at('old'), before, before);
  const began = performance.now();
  expect([await isBeingWritten(at('old')), await isBeingWritten(at('none')), await isBeingWritten(folder)]).toEqual([
    false,
    false,
    false,
  ]);
  expect(performance.now() - began, 'nothing had to be watched').toBeLessThan(390);
  const looked = Promise.all([isBeingWritten(at('grows')), isBeingWritten(at('rests'))]);
  setTimeout(() => appendFileSync(at('grows'), 'y'), 100);
  expect(await looked).toEqual([true, false]);
});
