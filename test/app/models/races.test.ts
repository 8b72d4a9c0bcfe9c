import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAccessTokens } from '../../../app/models/sources/access-tokens.ts';
import { newFolder, next, startCore } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';

//  Two that want the same at once: what one of them looked at may be another thing when it acts.

test('two tokens that are sealed at once are both kept', async () => {
  const seal = async (text: string) => {
    await wait(text.length);
    return `sealed ${text}`;
  };
  const tokens = createAccessTokens(join(newFolder(), 'tokens.json'), { seal, open: async (text) => text.slice(7) });
  await Promise.all([
    tokens.write('huggingface', 'a-long-token-that-takes-its-time'),
    tokens.write('modelscope', 'short'),
  ]);
  expect(tokens.sources()).toEqual(['huggingface', 'modelscope']);
  expect(await tokens.read('huggingface')).toBe('a-long-token-that-takes-its-time');
  await Promise.all([tokens.write('huggingface', null), tokens.write('mirror', 'third')]);
  expect(tokens.sources()).toEqual(['mirror', 'modelscope']);
});

test('a library that two windows move at once goes to one place', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'tiny');
  cpSync(starter, folder, { recursive: true });
  const arrived = next(client, 'download.finished');
  await client.call('downloads.start', { reference: folder });
  await arrived;
  const disk = newFolder();
  const to = ['one', 'two'].map((name) => join(disk, name));
  mkdirSync(disk, { recursive: true });
  const moves = await Promise.allSettled(to.map((folder) => client.call('library.move', { folder })));
  expect(moves.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = moves.find((one) => one.status === 'rejected');
  expect(refused?.reason).toMatchObject({ code: 'conflict' });
  const winner = to[moves.findIndex(({ status }) => status === 'fulfilled')];
  await expect.poll(async () => (await client.call('library.state')).move, { timeout: 20_000 }).toBeNull();
  expect((await client.call('library.state')).folder).toBe(winner);
});
