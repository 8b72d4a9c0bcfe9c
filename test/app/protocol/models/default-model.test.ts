import { expect, test } from 'vitest';
import type { ModelId } from '../../../../app/protocol/index.ts';
import { builtInModel } from '../../../../app/protocol/models/default-model.ts';

const model = (id: string, builtIn: boolean, missing = false) => ({ id: id as ModelId, builtIn, missing });

test('the built-in model to begin with is one that was shipped and is there', () => {
  const own = model('own', false);
  expect(builtInModel([own])).toBeNull();
  expect(builtInModel([own, model('starter', true)])?.id).toBe('starter');
  expect(builtInModel([model('starter', true), model('assistant', true)])?.id).toBe('assistant');
  expect(builtInModel([model('assistant', true, true), model('starter', true)])?.id).toBe('starter');
  expect(builtInModel([own, model('starter', true, true)])).toBeNull();
});
