import { expect, onTestFinished, test } from 'vitest';
import { loadModel } from '../../../../../app/engine/process/model/loaded-model.ts';
import { KV_SCALE, type ModelId, type Settings } from '../../../../../app/protocol/index.ts';
import { addon } from '../../../../support/addon.ts';
import { starter } from '../../../../support/models/models.ts';

async function sessionBytes(kvType: Settings['kvType']): Promise<number> {
  const target = {
    modelId: 'starter' as ModelId,
    path: starter,
    device: 'cpu',
    threads: null,
    contextLength: 4096,
    kvType,
    template: null,
    packed: null,
    cacheBytes: 0,
    cacheDisk: null,
  };
  const model = await loadModel(
    addon,
    target,
    'cpu',
    new addon.AbortFlag(),
    () => {},
    () => {},
  );
  onTestFinished(() => model.close());
  return model.sessions('chat').bytes() - model.native.description.stateBytes;
}

test('a session keeps keys and values as its target says', async () => {
  const [halves, bytes] = [await sessionBytes('f16'), await sessionBytes('q8')];
  expect(bytes / halves).toBeCloseTo(KV_SCALE.q8, 1);
});
