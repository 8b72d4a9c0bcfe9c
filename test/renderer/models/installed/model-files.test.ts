import { expect, test } from 'vitest';
import { modelsAmong } from '../../../../renderer/models/installed/model-files.ts';

test('a GGUF file is a model, in parts too; what only sees pictures for it is a part of it', () => {
  expect(modelsAmong(['otter.gguf', 'notes.pdf', 'Badger.GGUF'])).toEqual({
    models: [
      { name: 'otter', opens: 'otter.gguf', parts: ['otter.gguf'] },
      { name: 'Badger', opens: 'Badger.GGUF', parts: ['Badger.GGUF'] },
    ],
    others: ['notes.pdf'],
  });
  const parts = ['a/big-00002-of-00003.gguf', 'a/big-00001-of-00003.gguf', 'a/big-00003-of-00003.gguf'];
  expect(modelsAmong([...parts, 'a/mmproj-big.gguf', 'a/README.md'])).toEqual({
    models: [{ name: 'big', opens: 'a/big-00001-of-00003.gguf', parts: [...parts.toSorted(), 'a/mmproj-big.gguf'] }],
    others: [],
  });
  expect(modelsAmong(['mmproj-F16.gguf', 'notes.pdf'])).toEqual({
    models: [],
    others: ['mmproj-F16.gguf', 'notes.pdf'],
  });
});

test('a folder of safetensors is one model, with all that lies in it and its pooling', () => {
  const folder = [
    'e5/config.json',
    'e5/model.safetensors',
    'e5/tokenizer.json',
    'e5/README.md',
    'e5/1_Pooling/config.json',
  ];
  expect(modelsAmong([...folder, 'papers/harbour.pdf'])).toEqual({
    models: [{ name: 'e5', opens: 'e5', parts: folder }],
    others: ['papers/harbour.pdf'],
  });
});

test('loose files of a model are one model, and what was chosen with them stays itself', () => {
  const loose = ['config.json', 'model.safetensors', 'tokenizer.json'];
  expect(modelsAmong([...loose, 'letter.pdf', 'readme.md'])).toEqual({
    models: [{ name: 'model', opens: '', parts: loose }],
    others: ['letter.pdf', 'readme.md'],
  });
});

test('weights without their configuration are part of a model; a configuration alone is a document', () => {
  expect(modelsAmong(['model.safetensors']).models).toMatchObject([{ opens: 'model.safetensors' }]);
  expect(modelsAmong(['config.json', 'notes.txt'])).toEqual({ models: [], others: ['config.json', 'notes.txt'] });
});
