import { describe, expect, test } from 'vitest';
import type { ChatId, ModelEntry } from '../../../app/protocol/index.ts';
import { nextContextSize } from '../../../renderer/chat/overflow/context-size.ts';
import { findMatches } from '../../../renderer/chat/transcript/find/find-matches.ts';
import { spoken, wholeSentences } from '../../../renderer/chat/transcript/speech.ts';
import { mainType, matchingModels } from '../../../renderer/stores/models/model-list.ts';
import { newMessage, starter } from '../../support/fakes/world.ts';

const chatId = 'c' as ChatId;

describe('speech', () => {
  const say = (key: string, { count }: { count: number }) => `${key} ${count}`;
  test('waits for whole sentences', () => {
    expect(wholeSentences('One. Two', 0)).toBe(4);
    expect(wholeSentences('Version 3.5 is', 0)).toBe(0);
    expect(wholeSentences('One. Two. Thr', 4)).toBe(9);
  });
  test('says code and tables by their size and leaves marks out', () => {
    expect(spoken('# A **b**\n```js\n1\n2\n```\n| a |\n|---|\n| 1 |\n', say)).toBe('A b speech.code 2 speech.table 1');
    expect(spoken('[text](https://a.test)', say)).toBe('text');
  });
});

describe('find', () => {
  test('every place, whatever the case, in reading order', () => {
    const branch = [newMessage(chatId, 'user', { text: 'Ab ab' }), newMessage(chatId, 'assistant', { text: 'cAB' })];
    expect(findMatches(branch, 'aB').map((match) => match.nth)).toEqual([0, 1, 0]);
    expect(findMatches(branch, '  ')).toEqual([]);
  });
});

describe('context', () => {
  test('the next size holds the prompt and an answer, in steps of 16k, up to what the model can', () => {
    expect(nextContextSize(36_200, 262_144)).toBe(49_152);
    expect(nextContextSize(36_200, 40_000)).toBe(40_000);
    expect(nextContextSize(36_200, 32_768)).toBeNull();
  });
});

describe('models', () => {
  const model = (name: string, lastUsedAt: number | null): ModelEntry => ({
    ...starter,
    id: name as ModelEntry['id'],
    name,
    builtIn: false,
    lastUsedAt,
  });
  test('the built-in one, then the last used, by the words typed', () => {
    const models = [model('Llama 3', 1), model('Qwen 9B', 5), starter];
    expect(matchingModels(models, '').map((one) => one.name)).toEqual([starter.name, 'Qwen 9B', 'Llama 3']);
    expect(matchingModels(models, 'lla').map((one) => one.name)).toEqual(['Llama 3']);
  });
  test('a model is called after the type most of it has', () => {
    expect(
      mainType({ ...(starter.description as NonNullable<ModelEntry['description']>), types: { f32: 3, q4_K_M: 90 } }),
    ).toBe('Q4');
  });
});
