// Where a test of a model runs.
import { expect, test } from 'vitest';
import { STARTER } from '../../../../app/protocol/index.ts';
import { next, startCore } from '../../../support/core/core.ts';

test('a test runs on the device that was chosen, and says so where that is not there', async () => {
  const { client } = await startCore();
  await client.call('settings.set', { device: 'toaster' });
  const ended = next(client, 'quality.changed', ({ state }) => state.status !== 'running');
  const asked = { kind: 'perplexity', text: { source: 'manual' }, limit: 512 } as const;
  await client.call('quality.start', { modelId: STARTER, test: asked });
  expect((await ended).state).toMatchObject({
    status: 'failed',
    failure: { message: expect.stringContaining('toaster') },
  });
}, 60_000);
