// One answer of one session, on the real engine: held up in between it says the same, and it ends when it is told to.
import { expect, onTestFinished, test } from 'vitest';
import {
  type AnswerRequest,
  recommendedSampling,
  singleAnswer,
} from '../../../../../app/engine/process/generation/single-answer.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../../../../support/addon.ts';
import { starter } from '../../../../support/models/models.ts';

async function answered(change: Partial<AnswerRequest> = {}) {
  const model = await addon.load(starter);
  onTestFinished(() => model.close());
  const text = await readModelText(addon, starter);
  return singleAnswer({
    addon,
    text,
    session: model.createSession({ contextLength: 512 }),
    prompt: [...text.before, ...text.tokenizer.encodeText('The harbour opens at nine, and the library')],
    inThinking: false,
    sampling: { ...recommendedSampling(model, text), temperature: 0, seed: 1 },
    maxTokens: 40,
    signal: new AbortController().signal,
    ...change,
  });
}

test('held up after some of its tokens, it goes on with the very same answer', { timeout: 60_000 }, async () => {
  const whole = await answered();
  expect(whole.tokens.length).toBeGreaterThan(4);
  let asked = 0;
  let waits = 0;
  const pause = () => {
    if (++asked % 3 !== 0) return null;
    waits++;
    return new Promise<void>((resolve) => setTimeout(resolve, 20));
  };
  const held = await answered({ pause });
  expect(waits).toBeGreaterThan(0);
  expect(held).toMatchObject({ text: whole.text, tokens: whole.tokens, finish: whole.finish });
});

test('with as many tokens as it may write it has reached its length, also when it is held up at the last one', {
  timeout: 60_000,
}, async () => {
  const { finish, tokens } = await answered({ maxTokens: 4, pause: () => Promise.resolve() });
  expect(tokens).toHaveLength(4);
  expect(finish).toBe('length');
});

test('stopped while it is held up, it is cancelled, and keeps what it had written by then', {
  timeout: 60_000,
}, async () => {
  const whole = await answered();
  const stop = new AbortController();
  const pause = () => {
    stop.abort();
    return Promise.resolve();
  };
  const { finish, tokens } = await answered({ signal: stop.signal, pause });
  expect(finish).toBe('cancelled');
  expect(tokens).toEqual(whole.tokens.slice(0, 1));
});

test('stopped late, it keeps nothing of what the engine had run ahead by', { timeout: 60_000 }, async () => {
  const whole = await answered();
  const stop = new AbortController();
  // So long that the engine has come to the end of its answer.
  const onPart = () => {
    if (stop.signal.aborted) return;
    const until = performance.now() + 500;
    while (performance.now() < until);
    stop.abort();
  };
  const { finish, tokens } = await answered({ signal: stop.signal, onPart });
  expect(finish).toBe('cancelled');
  expect(tokens).toEqual(whole.tokens.slice(0, tokens.length));
  expect(tokens.length).toBeLessThan(whole.tokens.length);
});
