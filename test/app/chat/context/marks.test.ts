import { expect, onTestFinished, test } from 'vitest';
import { promptOf } from '../../../../app/chat/prompt/prompt.ts';
import type { Chat, Grounding, Message, Settings, Source } from '../../../../app/protocol/index.ts';
import { openStore } from '../../../../app/store/store.ts';
import { newFolder, places } from '../../../support/core/core.ts';

//  Earlier answers from documents in the prompt of the next one.

const grounding = { found: true, sources: [] } as unknown as Grounding;
const said = (role: Message['role'], text: string, from: Grounding | null = null) =>
  ({ id: text, role, text, thinking: '', toolUses: [], grounding: from, contextCutoff: null }) as unknown as Message;

async function prompted(answer: Message, sources?: Source[]): Promise<string | undefined> {
  const store = await openStore({ folder: newFolder(), migrations: places.migrations });
  onTestFinished(() => store.close());
  const core = { db: store.db, pictures: {} as never, models: { sees: () => false } };
  const chat = { systemPrompt: '', modelId: 'any' } as unknown as Chat;
  const settings = { systemPrompt: '' } as Settings;
  const path = [said('user', 'first'), answer, said('user', 'second')];
  const { messages } = promptOf(core, { chat, settings, thinking: false, sources, tools: null }, path, null);
  return messages.find(({ role }) => role === 'assistant')?.text;
}

const ANSWER = 'The rent is 840 euros [1], and heating is 90 [2, 3].\n\n`list[1]` stays. [4]';

test('marks of an earlier answer are cut where the next one is not from documents', async () => {
  expect(await prompted(said('assistant', ANSWER, grounding))).toBe(
    'The rent is 840 euros, and heating is 90.\n\n`list[1]` stays.',
  );
});

test('they stay where it is, and brackets of other answers always do', async () => {
  const source = { number: 1, name: 'lease.pdf', location: null, text: 'The rent is 840 euros.' } as Source;
  expect(await prompted(said('assistant', ANSWER, grounding), [source])).toBe(ANSWER);
  expect(await prompted(said('assistant', ANSWER))).toBe(ANSWER);
});
