import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createProbe } from '../../../../app/models/storage/fs-probe.ts';
import { newFolder } from '../../../support/core/core.ts';
import { data, expectWhole, location, MODEL, mover, newLibrary, target } from '../../../support/models/relocation.ts';

beforeEach(newLibrary);

test('a plan leaves nothing behind, and asks a disk that does not answer no longer than a while', async () => {
  const { plan } = mover();
  const ground = join(target, '..');
  mkdirSync(ground);
  expect(await plan(target)).toMatchObject({ more: 0 });
  expect(readdirSync(ground)).toEqual([]);
  const silent = {
    free: () => new Promise<number>(() => {}),
    glance: createProbe((_, over) => {
      const timer = setTimeout(over, 50);
      return () => clearTimeout(timer);
    }),
  };
  const { begin, state, plan: ask } = mover({ tuning: silent });
  await expect(ask(target)).rejects.toMatchObject({ code: 'unreadable' });
  await expect(begin(target)).rejects.toMatchObject({ code: 'unreadable' });
  expect(state().move).toBe(null);
});

test('a folder that holds something gets one of ours in it; what is there stays', async () => {
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'thesis.txt'), 'mine');
  const { begin, rest } = mover();
  await begin(target);
  await rest();
  expectWhole(join(target, 'Longhand models'));
  await begin(location.home);
  await rest();
  expect(readdirSync(target)).toEqual(['thesis.txt']);
});

test.each([
  ['where it is', () => location.home, 'same'],
  ['inside the library', () => join(location.home, MODEL), 'inside'],
  ['inside it over a link', () => join(linkTo(location.home), 'new'), 'inside'],
  ['a file', () => join(data, 'longhand.db'), 'file'],
  ['no full path', () => 'models', 'relative'],
  ['a link to nothing', () => linkTo('/nowhere/at/all'), 'link'],
])('%s is no location for it, and nothing is changed', async (_name, given, reason) => {
  const { begin, plan, state } = mover();
  const path = given();
  await expect(plan(path)).rejects.toMatchObject({ code: 'bad-request', details: { reason } });
  await expect(begin(path)).rejects.toMatchObject({ code: 'bad-request' });
  expect(state().move).toBe(null);
  expectWhole(location.home);
});

test('a folder around the library is refused because the library is inside it', async () => {
  const inner = join(target, 'Longhand models', 'mine');
  const { begin, plan, rest } = mover();
  await begin(inner);
  await rest();
  await expect(plan(target)).rejects.toMatchObject({ code: 'bad-request', details: { reason: 'inside' } });
  expectWhole(inner);
});

function linkTo(path: string): string {
  const link = join(newFolder(), 'link');
  symlinkSync(path, link);
  return link;
}

test('a location where nothing can be made is refused', async () => {
  const { begin, state } = mover();
  await expect(begin('/proc/longhand/models')).rejects.toMatchObject({
    code: expect.stringMatching(/permission|unreadable/),
  });
  expect(state().move).toBe(null);
});

test('too little room is said before anything is copied, with the bytes that are missing', async () => {
  const { begin, plan, state } = mover({ tuning: { free: async () => 1_000_000 } });
  const { missing, bytes } = await plan(target);
  expect(missing).toBe(bytes - 1_000_000);
  await expect(begin(target)).rejects.toMatchObject({ code: 'disk-full', details: { missing } });
  expect(state().move).toBe(null);
  expect(existsSync(target)).toBe(false);
});
