import { existsSync, readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openParts } from '../../../app/quality/evaluation/parts.ts';
import { newFolder } from '../../support/core/core.ts';

//  A long test of a model that is killed goes on where it was.

const noWait = async () => {};

test('a part is on the disk once it is done, and whoever goes on does not do it again', async () => {
  const folder = newFolder();
  const { step } = await openParts(folder, 'this test', noWait);
  for (let at = 1; at <= 20; at++) {
    await step(`window ${at}`, async () => at / 4);
    expect(existsSync(`${folder}/window-${at}.part`), `window ${at}`).toBe(true);
  }

  const again = vi.fn(async () => 0.5);
  const later = await openParts(folder, 'this test', noWait);
  expect(await later.step('window 1', again)).toBe(0.25);
  expect(later.replaying()).toBe(true);
  expect(again).not.toHaveBeenCalled();
  expect(await later.step('window 21', again)).toBe(0.5);
  expect(later.replaying()).toBe(false);
});

test('the parts of another test are not taken for its own', async () => {
  const folder = newFolder();
  const { step } = await openParts(folder, 'this test', noWait);
  await step('window 1', async () => 0.25);
  const other = await openParts(folder, 'another test', noWait);
  expect(readdirSync(folder)).toEqual(['print']);
  expect(await other.step('window 1', async () => 0.5)).toBe(0.5);
});
