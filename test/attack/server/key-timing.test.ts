import { timingSafeEqual } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createAccessControl } from '../../../app/server/api/access-control.ts';
import { tallyOf } from '../tally.ts';

//  How long a refusal takes tells nothing about the keys: whatever is sent, each of them is compared, and in whole.

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof import('node:crypto')>();
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) };
});

const tally = tallyOf('api');
const KEYS = ['lh-first-key-of-mine', 'lh-second-key-of-mine', 'lh-third-key-of-mine'];

test('a wrong key is compared with every key, however much of one it has', async () => {
  const app = createAccessControl({ port: 4880, keys: KEYS, origins: () => [], refused: () => {} }, (_, { status }) =>
    Response.json({}, { status }),
  );
  const ask = async (key: string) => {
    vi.mocked(timingSafeEqual).mockClear();
    const headers = { host: '127.0.0.1:4880', authorization: `Bearer ${key}` };
    const { status } = await app.request('/v1/models', { headers });
    return {
      status,
      lengths: vi.mocked(timingSafeEqual).mock.calls.map(([known, given]) => [known, given].map(sizeOf)),
    };
  };
  const whole = KEYS.map(() => [32, 32]);
  const [first = ''] = KEYS;
  for (const [what, key] of Object.entries({
    'nothing of it': 'x',
    'its first letter': first[0] ?? '',
    'half of it': first.slice(0, 10),
    'all but its last letter': first.slice(0, -1),
    'all of it, and more': `${first}x`,
    'its letters in another order': [...first].reverse().join(''),
  })) {
    await tally.refused(`a key that has ${what}`, async () => {
      expect(await ask(key)).toEqual({ status: 401, lengths: whole });
    });
  }
  for (const key of KEYS) expect(await ask(key)).toEqual({ status: 404, lengths: whole });
  tally.settle();
});

const sizeOf = (bytes: NodeJS.ArrayBufferView) => bytes.byteLength;
