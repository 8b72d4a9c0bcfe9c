import { beforeEach, expect, test, vi } from 'vitest';
import type { CoreFrame, Device, EngineStatus, ModelEntry, ModelId } from '../../../app/protocol/index.ts';
import { silentCore } from '../../support/fakes/silent-core.ts';
import { starter } from '../../support/fakes/world.ts';

//  What the page knows of the engine: its devices are asked for again whenever it stands there anew.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { attach } = await import('../../../renderer/bridge.ts');
const { listenToEngine, useEngine } = await import('../../../renderer/stores/engine.ts');
const leave = listenToEngine();

const { asked, deliver } = silentCore(attach);
const cpu: Device = {
  id: 'cpu',
  name: 'Test CPU',
  backEnd: 'cpu',
  available: true,
  detail: '',
  memoryBytes: 2 ** 33,
  unified: true,
};
const gpu: Device = { ...cpu, id: 'gpu', name: 'Test GPU', backEnd: 'metal' };
const say = (status: EngineStatus) => deliver({ event: 'engine.status', payload: status });
const devicesAsked = () => asked.filter(({ call }) => call === 'engine.devices');
const answer = (devices: Device[]) => deliver({ id: devicesAsked().at(-1)?.id ?? 0, value: devices } as CoreFrame);
const restarting = { phase: 'restarting', attempt: 1, waitMs: 10 } as const;

beforeEach(() => {
  useEngine.setState({ status: { phase: 'idle' }, devices: [], models: [] });
});

test('devices that could not be asked for, because the engine ended, are asked for when it is back', async () => {
  say(restarting);
  say({ phase: 'idle' });
  expect(devicesAsked()).toHaveLength(1);
  const failure = { code: 'engine-lost', message: '[test] it ended' } as const;
  deliver({ id: devicesAsked()[0]?.id ?? 0, failure });
  await vi.waitFor(() => {
    say(restarting);
    say({ phase: 'idle' });
    expect(devicesAsked().length).toBeGreaterThan(1);
  });
  answer([cpu]);
  await vi.waitFor(() => expect(useEngine.getState().devices).toEqual([cpu]));
});

test('an engine that says once more that it rests is not asked for its devices again', () => {
  say({ phase: 'idle' });
  expect(devicesAsked()).toEqual([]);
});

test('a GPU that came with the new engine is known, and what is known stays until there is an answer', async () => {
  useEngine.setState({ devices: [cpu] });
  say(restarting);
  say({ phase: 'idle' });
  expect(useEngine.getState().devices).toEqual([cpu]);
  answer([gpu, cpu]);
  await vi.waitFor(() => expect(useEngine.getState().devices).toEqual([gpu, cpu]));
});

test('what changes of one model changes that one, in its place', () => {
  const entry = (id: string, lastUsedAt: number | null): ModelEntry => ({
    ...starter,
    id: id as ModelId,
    name: id,
    lastUsedAt,
  });
  const [first, second] = [entry('first', null), entry('second', null)];
  deliver({ event: 'models.changed', payload: [first, second] });
  deliver({ event: 'model.changed', payload: entry('second', 7) });
  expect(useEngine.getState().models).toEqual([first, entry('second', 7)]);
});

test('who has left hears of nothing any more', () => {
  leave();
  say({ phase: 'ready' } as EngineStatus);
  deliver({ event: 'models.changed', payload: [starter] });
  expect(useEngine.getState()).toMatchObject({ status: { phase: 'idle' }, models: [] });
  expect(devicesAsked()).toEqual([]);
});
