import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';

const starter = join(import.meta.dirname, '../../../../../resources/starter-model');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
const noGguf = { ggufMetadata: () => Promise.reject(new Error('not asked for')) };

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-text-'));
  folders.push(folder);
  copyFileSync(join(starter, 'tokenizer.json'), join(folder, 'tokenizer.json'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('a folder, and a file of weights in it', async () => {
  const folder = folderWith({ 'model.safetensors': '' });
  expect((await readModelText(noGguf, folder)).tokenizer.size).toBe(8192);
  expect((await readModelText(noGguf, join(folder, 'model.safetensors'))).tokenizer.size).toBe(8192);
});

test('the template comes from its own file before tokenizer_config.json', async () => {
  const config = JSON.stringify({ chat_template: 'config' });
  const own = JSON.stringify({ chat_template: 'json' });
  const template = async (files: Record<string, string>) => (await readModelText(noGguf, folderWith(files))).template;
  expect(await template({ 'tokenizer_config.json': config })).toBe('config');
  expect(await template({ 'tokenizer_config.json': config, 'chat_template.json': own })).toBe('json');
  expect(await template({ 'chat_template.json': own, 'chat_template.jinja': 'jinja' })).toBe('jinja');
  expect(await template({})).toBeNull();
});

test('broken files are named', async () => {
  const refused = (files: Record<string, string>) => expect(readModelText(noGguf, folderWith(files))).rejects;
  await refused({ 'config.json': '{' }).toThrow('[config.json] is not JSON');
  for (const other of ['{}', 'null', '"{{ messages }}"', '[]', '5']) {
    await refused({ 'chat_template.json': other }).toThrow('[chat_template.json] has no text "chat_template"');
  }
  await refused({ 'tokenizer.json': '' }).toThrow('[tokenizer.json] is not JSON');
  const odd = folderWith({});
  rmSync(join(odd, 'tokenizer.json'));
  mkdirSync(join(odd, 'tokenizer.json'));
  await expect(readModelText(noGguf, odd)).rejects.toThrow('tokenizer.json is a folder, expected a file');
  await expect(readModelText(noGguf, '/nowhere')).rejects.toThrow('tokenizer.json is missing');
});

test('brackets in texts are no levels, also behind a text that ends with a backslash or a quote', async () => {
  const deep = '['.repeat(300);
  const config = JSON.stringify({ chat_template: 'config', added: ['\\', deep, '\\"', deep, '"', deep] });
  expect((await readModelText(noGguf, folderWith({ 'tokenizer_config.json': config }))).template).toBe('config');
});

test('a GGUF file is asked for its metadata', async () => {
  const gguf = { ggufMetadata: async () => ({ 'tokenizer.ggml.model': 'rwkv' }) };
  await expect(readModelText(gguf, 'x.GGUF')).rejects.toThrow('[gguf] tokenizer.ggml.model');
});
