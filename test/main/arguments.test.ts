import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readArguments, shellFolder } from '../../main/arguments.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-arguments-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a packaged app has no script among its arguments', () => {
  expect(readArguments(['longhand', '--data', '/chats'], true).dataFolder).toBe('/chats');
  expect(readArguments(['longhand', '--data=/chats', '--disable-gpu'], true).dataFolder).toBe('/chats');
  expect(readArguments(['electron', '.', '--data', '/chats'], false).dataFolder).toBe('/chats');
});

test('a data folder is absolute, and one that is not named is the usual one', () => {
  expect(readArguments(['longhand', '--data', 'chats'], true).dataFolder).toBe(resolve('chats'));
  expect(
    readArguments(['longhand', 'a.GGUF', '--data', 'x.gguf', '/b.gguf', 'c.txt'], true, '/home').modelFiles,
  ).toEqual(['/home/a.GGUF', '/b.gguf']);
  const usual = readArguments(['longhand'], true).dataFolder;
  expect(usual).toBe(resolve(usual));
  for (const missing of [['--data'], ['--data='], ['--data', '']]) {
    expect(readArguments(['longhand', ...missing], true).dataFolder, missing.join(' ')).toBe(usual);
  }
});

test('the folder of Chromium is made before Electron is told of it, for nobody else', () => {
  const folder = shellFolder(join(newFolder(), 'not', 'there', 'yet'));
  expect(folder).toMatch(/yet.shell$/);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('where the data folder cannot be written, Chromium gets a folder that ends with the app', () => {
  const file = join(newFolder(), 'file');
  writeFileSync(file, '');
  const folder = shellFolder(file);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(folder).toContain(`longhand-shell-${process.pid}-`);
  expect(existsSync(folder)).toBe(true);
});
