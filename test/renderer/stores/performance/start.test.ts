import { beforeEach, expect, test, vi } from 'vitest';
import type { CallFrame, CoreFrame, ModelId } from '../../../../app/protocol/index.ts';

//  A benchmark begins at once where nothing disturbs it; otherwise somebody is asked first.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { usePerformance } = await import('../../../../renderer/stores/performance/store.ts');

const models = ['starter' as ModelId];
const calm = { battery: false, hot: false, busy: false };
let conditions = calm;
let started: unknown[] = [];

beforeEach(() => {
  started = [];
  let deliver: (frame: CoreFrame) => void = () => {};
  attach({
    send(frame) {
      const { id, call, input } = frame as CallFrame;
      if (call === 'benchmark.start') started.push(input);
      deliver({ id, value: call === 'benchmark.conditions' ? conditions : undefined } as CoreFrame);
    },
    onMessage: (listener) => {
      deliver = listener;
    },
    onClose: () => {},
    close: () => {},
  });
});

test('on a machine that is calm it begins; on battery it waits for a yes', async () => {
  await usePerformance.getState().ask(models);
  expect(started).toEqual([{ modelIds: models }]);
  conditions = { ...calm, battery: true };
  await usePerformance.getState().ask(models);
  expect(started).toHaveLength(1);
  expect(usePerformance.getState().benchmarkWarning).toEqual({ modelIds: models, conditions });
});
