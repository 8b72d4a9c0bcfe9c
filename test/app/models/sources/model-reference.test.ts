import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readReference } from '../../../../app/models/sources/model-reference.ts';

test.each([
  [
    'Qwen/Qwen3.5-0.8B',
    { kind: 'repository', source: 'huggingface', name: 'Qwen/Qwen3.5-0.8B', revision: null, file: null },
  ],
  [
    '  org/name@abc123 ',
    { kind: 'repository', source: 'huggingface', name: 'org/name', revision: 'abc123', file: null },
  ],
  [
    'https://huggingface.co/a/b',
    { kind: 'repository', source: 'huggingface', name: 'a/b', revision: null, file: null },
  ],
  [
    'https://huggingface.co/a/b/tree/v2',
    { kind: 'repository', source: 'huggingface', name: 'a/b', revision: 'v2', file: null },
  ],
  [
    'https://hf.co/a/b/blob/main/q/x.gguf?download=true',
    { kind: 'repository', source: 'huggingface', name: 'a/b', revision: 'main', file: 'q/x.gguf' },
  ],
  [
    'https://www.modelscope.cn/models/a/b',
    { kind: 'repository', source: 'modelscope', name: 'a/b', revision: null, file: null },
  ],
  ['https://example.org/x/model.gguf', { kind: 'url', url: 'https://example.org/x/model.gguf' }],
  ['~/models/x', { kind: 'path', path: '~/models/x' }],
  ['"/data/model.gguf"', { kind: 'path', path: '/data/model.gguf' }],
])('%s names a model', (text, expected) => expect(readReference(text)).toEqual(expected));

test.each(['', 'hello', 'a/b/c', '../x', 'a/..', 'javascript:alert(1)', 'a b/c'])('%j names none', (text) => {
  const read = readReference(text);
  expect(read === null || read.kind === 'path').toBe(true);
});

test('anything can be pasted', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => void readReference(text)));
  fc.assert(fc.property(fc.webUrl({ withQueryParameters: true }), (text) => void readReference(text)));
});
