// What a user is told when something cannot be saved, and when it can again.
import { expect, test, vi } from 'vitest';
import { LonghandError, type Notice } from '../../../../app/protocol/index.ts';
import { createSaving } from '../../../../app/store/folder/save-notices.ts';

test('each trouble is told once, the end of it too, and not before everything that waited is saved', () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const told: Notice[] = [];
  const saving = createSaving((notice) => told.push(notice));
  const codes = () => told.splice(0).map(({ code, details }) => [code, details.reason ?? ''].join(' ').trim());
  const [answer, draft] = [{}, {}];
  saving.worked();
  saving.worked(answer);
  expect(codes()).toEqual([]);
  saving.failed(new LonghandError('permission', 'not yours'), answer);
  saving.report(new LonghandError('permission', 'not yours either'));
  expect(codes()).toEqual(['not-saved not yours']);
  saving.failed(new LonghandError('disk-full', 'no room'), draft);
  saving.failed(new LonghandError('disk-full', 'no room'), draft);
  expect(codes()).toEqual(['disk-full no room']);
  saving.worked(draft);
  saving.worked();
  expect(codes()).toEqual([]);
  saving.worked(answer);
  saving.worked();
  expect(codes()).toEqual(['saved-again']);
  saving.failed(new LonghandError('disk-full', 'no room again'));
  expect(codes()).toEqual(['disk-full no room again']);
  saving.worked();
  expect(codes()).toEqual(['saved-again']);
  expect(said.mock.calls.map(([line]) => line)).toContain('[background] not yours either');
  said.mockRestore();
});
