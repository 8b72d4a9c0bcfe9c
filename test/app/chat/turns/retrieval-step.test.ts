import { expect, test } from 'vitest';
import { questionOf } from '../../../../app/chat/turns/retrieval-step.ts';
import type { Grounding, Message } from '../../../../app/protocol/index.ts';

const asked = (text: string) => ({ role: 'user', text, grounding: null }) as unknown as Message;
const answered = (text: string, question?: string) =>
  ({ role: 'assistant', text, grounding: question === undefined ? null : ({ question } as Grounding) }) as Message;

test('a short question is about what the last one was about, whether anything was looked up for that or not', () => {
  const first = [asked('Who keeps the deposit of the flat?'), answered('The landlord.')];
  expect(questionOf([...first, asked('And when is it due?')])).toMatch(/^And when is it due\? \(.*deposit/);
  const second = [asked('And its height?'), answered('Two rents.', 'And its height? (deposit of the flat)')];
  expect(questionOf([...second, asked('And when is it due?')])).toMatch(/^And when is it due\? \(.*deposit/);
});

test('a question that is still without an answer, and the answer itself, are no topic', () => {
  expect(questionOf([asked('Who keeps the deposit?'), asked('And when is it due?')])).toBe('And when is it due?');
  expect(questionOf([answered('The deposit.'), asked('And when is it due?')])).toBe('And when is it due?');
  expect(questionOf([])).toBe('');
});
