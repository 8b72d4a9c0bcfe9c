// What an encoder wants before a question and before a passage, and how much it reads.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { prefixesOf, readEmbedderText } from '../../../../../app/engine/process/embedding/embedding-prefixes.ts';

const none = { query: '', passage: '' };
const noGguf = { ggufMetadata: () => Promise.reject(new Error('not asked for')) };

test.each([
  ['multilingual-e5-small', { query: 'query: ', passage: 'passage: ' }],
  ['bge-small-en-v1.5', { query: 'Represent this sentence for searching relevant passages: ', passage: '' }],
  ['bge-small-zh', { query: expect.stringMatching(/^为/), passage: '' }],
  ['bge-m3', none],
  ['all-MiniLM-L6-v2', none],
  ['e50-large', none],
])('%s', (name, prefixes) => {
  expect(prefixesOf(name)).toEqual(prefixes);
});

function folderWith(files: Record<string, unknown>) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-encoder-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value));
  return folder;
}

test('its own files come before its name, of a passage under either word', async () => {
  const named = { 'config.json': { _name_or_path: 'intfloat/e5-base' } };
  const of = async (files: object) => readEmbedderText(noGguf, folderWith({ ...named, ...files }));
  expect(await of({})).toEqual({
    longest: Number.POSITIVE_INFINITY,
    prefixes: { query: 'query: ', passage: 'passage: ' },
  });
  const prompts = (given: object) => ({ 'config_sentence_transformers.json': { prompts: given } });
  expect((await of(prompts({ query: 'Q ' }))).prefixes).toEqual({ query: 'Q ', passage: 'passage: ' });
  expect((await of(prompts({ document: 'D ' }))).prefixes).toEqual({ query: 'query: ', passage: 'D ' });
  expect((await of(prompts({ passage: 'P ', document: 'D ', query: '' }))).prefixes).toEqual({
    query: '',
    passage: 'P ',
  });
  expect((await of({ 'sentence_bert_config.json': { max_seq_length: 256 } })).longest).toBe(256);
  expect((await readEmbedderText(noGguf, folderWith({}))).prefixes).toEqual(none);
  await expect(of({ 'sentence_bert_config.json': { max_seq_length: 7 } })).rejects.toThrow(
    '[sentence_bert_config.json] ',
  );
  const folder = folderWith({ ...named, 'model.safetensors': '' });
  expect((await readEmbedderText(noGguf, join(folder, 'model.safetensors'))).prefixes.query).toBe('query: ');
});

test('of a GGUF file the name counts that it declares, or that it has', async () => {
  const of = (name: unknown, path: string) =>
    readEmbedderText({ ggufMetadata: async () => ({ 'general.name': name }) as never }, path);
  expect((await of('E5 base', '/a/model.GGUF')).prefixes.query).toBe('query: ');
  expect((await of(5, '/e5/bge-small-en.gguf')).prefixes.query).toMatch(/^Represent/);
  expect(await of(undefined, '/e5/model.gguf')).toEqual({ longest: Number.POSITIVE_INFINITY, prefixes: none });
});
