import { expect, test } from 'vitest';
import { ASSISTANT, type ModelEntry } from '../../../../app/protocol/index.ts';
import { abilityOf } from '../../../../renderer/chat/transcript/suggested-prompts.ts';
import { starter } from '../../../support/fakes/world.ts';

const model = (parameters: number | undefined, builtIn = false): ModelEntry => ({
  ...starter,
  builtIn,
  description: parameters === undefined || !starter.description ? null : { ...starter.description, parameters },
});

test.each([
  [{ ...model(135e6, true), id: ASSISTANT }, 'assistant'],
  [model(9e6, true), 'tiny'],
  [model(undefined, true), 'tiny'],
  [model(135e6), 'tiny'],
  [model(1.2e9), 'small'],
  [model(undefined), 'small'],
  [null, 'small'],
  [model(4e9), 'large'],
  [model(4e9, true), 'large'],
] as const)('%#: suggestions are those the model can do', (entry, ability) => {
  expect(abilityOf(entry)).toBe(ability);
});
