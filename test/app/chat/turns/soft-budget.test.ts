import { expect, test } from 'vitest';
import { softBudgetOf } from '../../../../app/chat/turns/soft-budget.ts';
import { defaultSettings, type FinishReason, type ModelId, type Settings } from '../../../../app/protocol/index.ts';
import { updateMessage } from '../../../../app/store/chats/messages.ts';
import { addExchange, open } from '../../store/support.ts';

const modelId = 'thinker' as ModelId;

async function budgets(contextLength = 131_072) {
  const store = await open();
  const models = { target: () => ({ name: 'Thinker' }), contextLengthOf: () => contextLength };
  const thought = (tokens: number, modelName = 'Thinker', reason: FinishReason = 'stop') => {
    const { answerId } = addExchange(store, 'How high is the rent?', '840 euros.');
    const usage = { promptTokens: 9, cachedTokens: 0, thinkingTokens: tokens, answerTokens: 9 };
    updateMessage(store.db, answerId, { modelName, usage, state: { status: 'done', reason } });
  };
  const budget = (settings: Partial<Settings> = {}, fromDocuments = false) =>
    softBudgetOf({ db: store.db, models } as never, { ...defaultSettings, ...settings }, modelId, fromDocuments);
  return { thought, budget };
}

test('without enough answers it is eight thousand tokens; then four times what nine of ten took, in bounds', async () => {
  const { thought, budget } = await budgets();
  for (let count = 0; count < 4; count++) thought(900);
  expect(budget()).toBe(8192);
  thought(1000);
  expect(budget()).toBe(3600);
  for (let count = 0; count < 6; count++) thought(9000);
  expect(budget()).toBe(16_384);
  const brief = await budgets();
  for (let count = 0; count < 9; count++) brief.thought(30);
  expect(brief.budget()).toBe(2048);
});

test('answers that were stopped, did not think, or are of another model say nothing about what is usual', async () => {
  const { thought, budget } = await budgets();
  for (let count = 0; count < 6; count++) {
    thought(700, 'Thinker', 'loop');
    thought(700, 'Somebody else');
    thought(0);
  }
  expect(budget()).toBe(8192);
});

test('documents take half, an answer keeps half of the context; a budget of the user, or off, asks never', async () => {
  const { budget } = await budgets();
  expect(budget({}, true)).toBe(4096);
  expect((await budgets(2000)).budget()).toBe(1000);
  expect(budget({ askLongThinking: false })).toBeNull();
  expect(budget({ thinkingBudget: { tokens: 1024, seconds: null } })).toBeNull();
  expect(budget({ thinkingBudget: { tokens: null, seconds: 60 } })).toBeNull();
});
