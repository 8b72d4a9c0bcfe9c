import { beforeEach, expect, test, vi } from 'vitest';
import { defaultSettings, type Settings } from '../../../app/protocol/index.ts';
import { silentCore } from '../../support/fakes/silent-core.ts';

//  Settings that are changed while earlier changes are on their way to the core: each is made from all before it.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { attach } = await import('../../../renderer/bridge.ts');
const { listenToSettings, useSettings } = await import('../../../renderer/stores/settings.ts');
listenToSettings();

const { asked, answer, deliver, refuse } = silentCore(attach);
const shown = () => useSettings.getState().values.sampling;
const set = (sampling: Settings['sampling']) => useSettings.getState().set({ sampling });
const settingsWith = (sampling: Settings['sampling']): Settings => ({ ...defaultSettings, sampling });
/** What the core does with a change: it tells every page, then answers. */
function confirm(at: number, sampling: Settings['sampling']): void {
  deliver({ event: 'settings.changed', payload: settingsWith(sampling) });
  answer(at, settingsWith(sampling));
}

beforeEach(async () => {
  const loaded = useSettings.getState().load();
  answer(0, defaultSettings);
  await loaded;
  asked.length = 0;
});

test('two changes on their way: both stand, whichever answer comes', async () => {
  const first = set({ temperature: 2 });
  const second = set({ ...shown(), topK: 40 });
  confirm(0, { temperature: 2 });
  await first;
  expect(shown()).toEqual({ temperature: 2, topK: 40 });
  confirm(1, { temperature: 2, topK: 40 });
  await second;
  expect(shown()).toEqual({ temperature: 2, topK: 40 });
});

test('after two changes on their way, a third is made from both, and what another window says is shown', async () => {
  const both = [set({ temperature: 2 }), set({ temperature: 2, topK: 40 })];
  confirm(0, { temperature: 2 });
  confirm(1, { temperature: 2, topK: 40 });
  await Promise.all(both);
  const third = set({ ...shown(), seed: 20 });
  expect(asked.at(-1)).toMatchObject({ input: { sampling: { temperature: 2, topK: 40, seed: 20 } } });
  confirm(2, { temperature: 2, topK: 40, seed: 20 });
  await third;
  deliver({ event: 'settings.changed', payload: settingsWith({ topP: 0.5 }) });
  expect(shown()).toEqual({ topP: 0.5 });
});

test('a change that is refused goes back, and leaves another one that is on its way', async () => {
  const first = set({ temperature: 2 });
  const second = set({ temperature: 2, topK: 40 });
  refuse(0);
  await expect(first).rejects.toThrow('refused');
  expect(shown()).toEqual({ temperature: 2, topK: 40 });
  refuse(1);
  await expect(second).rejects.toThrow('refused');
  expect(shown()).toEqual({});
});
