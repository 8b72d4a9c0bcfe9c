import { expect, test } from 'vitest';
import { defaultSettings } from '../../../app/protocol/index.ts';
import { shownSettings, withAnswer, withSent } from '../../../renderer/stores/optimistic.ts';

const nothing = { held: defaultSettings, sent: [] };

test('two changes on their way: the answer to the first does not take back the second', () => {
  const [hot, many] = [{ sampling: { temperature: 2 } }, { sampling: { temperature: 2, topK: 40 } }];
  const both = withSent(withSent(nothing, hot), many);
  const first = withAnswer(both, hot, { ...defaultSettings, ...hot });
  expect(shownSettings(first).sampling).toEqual(many.sampling);
  const second = withAnswer(first, many, { ...defaultSettings, ...many });
  expect(second).toEqual({ held: { ...defaultSettings, ...many }, sent: [] });
});

test('what another window changes is shown, below what was changed here', () => {
  const dark = { theme: 'dark' as const };
  const changed = { ...defaultSettings, theme: 'light' as const, textSize: 'large' as const };
  expect(shownSettings({ ...withSent(nothing, dark), held: changed })).toEqual({ ...changed, ...dark });
});

test('a change that is refused goes back to what the core holds', () => {
  const dark = { theme: 'dark' as const };
  expect(withAnswer(withSent(nothing, dark), dark)).toEqual(nothing);
});
