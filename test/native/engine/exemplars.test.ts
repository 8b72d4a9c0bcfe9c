// Texts that lead an answer: followed where they weigh enough, also from the middle and after a part that was written before; left where the
// model is surer of something else.
import { expect, test } from 'vitest';
import type { GenerateOptions, Session } from '../../../native/addon/index.d.ts';
import { addon } from '../../support/addon.ts';
import { someTokens, starter } from '../../support/models/models.ts';

const STOP = 3;
const LED = [901, 17, 44, 17, 45, 600, 33, 9, 1200, 5, 77, STOP];
const prompt = someTokens(20);
const open = async () => {
  const model = await addon.load(starter, { device: 'cpu' });
  return { model, session: model.createSession() };
};
const write = async (session: Session, options: Partial<GenerateOptions> = {}, from = prompt): Promise<number[]> =>
  (await session.generate(from, { maxTokens: 24, stopTokens: [STOP], path: 'exact', ...options })).tokens;

test('an answer is led to the end of the text, and ends there', async () => {
  const { model, session } = await open();
  const alone = await write(session);
  expect(await write(session, { exemplars: [{ tokens: LED, weight: 100 }] })).toEqual(LED);
  // Without its stop token the model goes on by itself.
  const open_ = LED.slice(0, -1);
  const further = await write(session, { exemplars: [{ tokens: open_, weight: 100 }] });
  expect(further.slice(0, open_.length)).toEqual(open_);
  expect(further.length).toBeGreaterThan(open_.length);
  for (const nothing of [[], [{ tokens: LED, weight: 0 }], [{ tokens: [], weight: 100 }]])
    expect(await write(session, { exemplars: nothing })).toEqual(alone);
  // The heavier of two leads, whatever their order.
  // Both begin alike.
  const other = { tokens: [901, 6, 7, STOP], weight: 1 };
  const heavy = { tokens: LED, weight: 100 };
  expect(await write(session, { exemplars: [other, heavy] })).toEqual(LED);
  expect(await write(session, { exemplars: [heavy, other] })).toEqual(LED);
  model.close();
});

test('the model leaves a text for what it is surer of, and the more of it was followed, the surer it has to be', async () => {
  const { model, session } = await open();
  /** By how much a token is less likely than the best after these. */
  const behind = async (written: readonly number[], token: number): Promise<number> => {
    const { data } = await session.logits(Int32Array.from([...prompt, ...written]), { path: 'exact' });
    return Math.max(...data) - (data[token] ?? 0);
  };
  const [first = 0, second = 0] = LED;
  const begin = await behind([], first);
  const under = await write(session, { exemplars: [{ tokens: [first], weight: begin - 0.01 }], maxTokens: 1 });
  expect(under).not.toEqual([first]);
  expect(await write(session, { exemplars: [{ tokens: [first], weight: begin + 0.01 }], maxTokens: 1 })).toEqual([
    first,
  ]);
  const continued = Int32Array.from([...prompt, first]);
  const written = { maxTokens: 1, continues: 1 };
  const after = await behind([first], second);
  // One token followed from the beginning: an eighth more than the weight.
  const led = (weight: number) => ({ exemplars: [{ tokens: LED, weight }], ...written });
  expect(await write(session, led((after - 0.01) / 1.125), continued)).not.toEqual([second]);
  expect(await write(session, led((after + 0.01) / 1.125), continued)).toEqual([second]);
  // The same token at the end of a prompt that is not the answer's: nothing was followed yet.
  expect(await write(session, { ...led((after + 0.01) / 1.125), continues: 0 }, continued)).not.toEqual([second]);
  // In the middle of the text, two tokens shared: half of the weight. Twice, eight and more.
  const middle = [9, 17, 44];
  const next = await behind(middle, 17);
  const inside = Int32Array.from([...prompt, ...middle]);
  const shares = (weight: number) => ({ exemplars: [{ tokens: LED, weight }], maxTokens: 1, continues: 3 });
  expect(await write(session, shares(2 * (next - 0.01)), inside)).not.toEqual([17]);
  expect(await write(session, shares(2 * (next + 0.01)), inside)).toEqual([17]);
  const most = LED.slice(0, 9);
  const last = await behind(most, LED[9] ?? 0);
  const whole = Int32Array.from([...prompt, ...most]);
  const follows = (weight: number) => ({ exemplars: [{ tokens: LED, weight }], maxTokens: 1, continues: 9 });
  expect(await write(session, follows((last - 0.01) / 2), whole)).not.toEqual([LED[9]]);
  expect(await write(session, follows((last + 0.01) / 2), whole)).toEqual([LED[9]]);
  model.close();
});

test('what is not a list of texts with their weights is refused by name', async () => {
  const { model, session } = await open();
  for (const [exemplars, named] of [
    [5, 'exemplars'],
    [[5], 'exemplars'],
    [[{ tokens: 'a', weight: 1 }], 'tokens'],
    [[{ tokens: [1], weight: -1 }], 'weight'],
    [[{ tokens: [1], weight: Number.NaN }], 'weight'],
  ] as const)
    await expect(write(session, { exemplars: exemplars as never })).rejects.toThrow(named);
  // Tokens that the model does not have change nothing.
  const alone = await write(session);
  expect(await write(session, { exemplars: [{ tokens: [1_000_000, 8192], weight: 100 }] })).toEqual(alone);
  model.close();
});
