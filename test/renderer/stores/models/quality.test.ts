import { beforeEach, expect, test, vi } from 'vitest';
import type { CoreFrame, ModelId, QualityRun } from '../../../../app/protocol/index.ts';
import { silentCore } from '../../../support/fakes/silent-core.ts';
import { alike, underWay } from '../../page/quality-scenes.ts';

//  Tests of what a model is worth: what is read of them, and who is told that one is over.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
vi.stubGlobal('document', { getElementById: () => null, documentElement: {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { listenToQuality, useQuality } = await import('../../../../renderer/stores/models/quality.ts');
const { useModels } = await import('../../../../renderer/stores/models/store.ts');
const { useShell } = await import('../../../../renderer/stores/shell.ts');
const { useToasts } = await import('../../../../renderer/ui/toast.tsx');

const [done] = alike('a', 'b') as [QualityRun];
const model = done.modelId;
const { asked, deliver } = silentCore(attach);
const changed = (run: QualityRun) => deliver({ event: 'quality.changed', payload: run } as CoreFrame);
const toasts = () => useToasts.getState().shown.length;

beforeEach(() => {
  useQuality.setState({ shown: false, runs: {}, current: null });
  useModels.setState({ tab: 'installed', installed: null });
  useToasts.setState({ shown: [] });
});

test('the tests of a model and the one under way are read together, and what fails is none', async () => {
  const loaded = useQuality.getState().load(model);
  expect(asked.map(({ call, input }) => [call, input])).toEqual([
    ['quality.list', { modelId: model }],
    ['quality.current', undefined],
  ]);
  deliver({ id: asked[0]?.id ?? 0, value: [done] });
  deliver({ id: asked[1]?.id ?? 0, failure: { code: 'internal', message: '[test] refused' } });
  await loaded;
  expect(useQuality.getState()).toMatchObject({ runs: { [model]: [done] }, current: null });
});

test('what is told goes into the list, and what was removed leaves it, until nobody listens', () => {
  const stop = listenToQuality();
  useQuality.setState({ runs: { [model]: [done] } });
  const running = underWay(model, false);
  changed(running);
  expect(useQuality.getState()).toMatchObject({ current: running, runs: { [model]: [running, done] } });
  const removed = (modelId: ModelId, id: string) =>
    deliver({ event: 'quality.removed', payload: { modelId, id } } as CoreFrame);
  removed(model, done.id);
  expect(useQuality.getState().runs).toEqual({ [model]: [running] });
  removed('other' as ModelId, 'run');
  expect(useQuality.getState().runs).toEqual({ [model]: [running], other: [] });
  stop();
  changed(done);
  expect(useQuality.getState().runs[model]).toEqual([running]);
});

test('that a test is over is told once, but not to whom it is shown, and not of one that was stopped', () => {
  const stop = listenToQuality();
  changed(underWay(model, false));
  changed({ ...done, state: { status: 'stopped' } });
  expect(toasts()).toBe(0);
  changed(done);
  expect(toasts()).toBe(1);
  useToasts.getState().shown[0]?.onAction();
  expect(useQuality.getState().shown).toBe(true);
  expect(useModels.getState()).toMatchObject({ tab: 'installed', installed: model });
  expect(useShell.getState().place).toMatchObject({ kind: 'models' });
  changed(done);
  expect(toasts()).toBe(1);
  useShell.getState().go({ kind: 'documents' });
  changed(done);
  expect(toasts()).toBe(2);
  stop();
});
