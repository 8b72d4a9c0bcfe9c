// Where models are kept, while they are moved.
import { expect, test } from 'vitest';
import type { ModelId } from '../../../../app/protocol/index.ts';
import {
  beginMove,
  cancelMove,
  endCleanup,
  libraryRow,
  pauseMove,
  switchLibrary,
} from '../../../../app/store/models/library-location.ts';
import { addModel, listModels } from '../../../../app/store/models/models.ts';
import { inMemory } from '../support.ts';

const still = { folder: null, markerId: null, movingTo: null, paused: false, cleanupPath: null };

test('a move begins, waits, and is given up: then the copy has to be deleted', () => {
  const db = inMemory();
  expect(libraryRow(db)).toEqual(still);
  beginMove(db, '/drive/models');
  pauseMove(db, true);
  expect(libraryRow(db)).toEqual({ ...still, movingTo: '/drive/models', paused: true });
  pauseMove(db, false);
  expect(libraryRow(db).paused).toBe(false);
  cancelMove(db);
  expect(libraryRow(db)).toEqual({ ...still, cleanupPath: '/drive/models' });
  endCleanup(db);
  expect(libraryRow(db)).toEqual(still);
  db.run(`UPDATE library SET folder = 'beside', moving_to = 'here', cleanup_path = ''`);
  expect(libraryRow(db)).toEqual(still);
  db.run('DELETE FROM library');
  expect(() => libraryRow(db)).toThrow('[library] its row is gone');
});

test('at the end every model in the old place is in the new one; those elsewhere, and what stays behind, are where they were', () => {
  const db = inMemory();
  const paths = [
    '/data/models/a',
    '/data/models/made/b',
    '/data/models too/c',
    '/elsewhere/d',
    '/data/models/kept/e',
    '/data/models/kept too/f',
    null,
  ];
  for (const [at, path] of paths.entries())
    addModel(db, { id: `${at}` as ModelId, name: `${at}`, path, metadata: null }, -at);
  beginMove(db, '/drive');
  switchLibrary(db, {
    from: '/data/models',
    to: '/drive',
    except: '/data/models/kept',
    folder: '/drive',
    markerId: 'm',
  });
  expect(listModels(db).map(({ path }) => path)).toEqual([
    '/drive/a',
    '/drive/made/b',
    '/data/models too/c',
    '/elsewhere/d',
    '/data/models/kept/e',
    '/drive/kept too/f',
    null,
  ]);
  expect(libraryRow(db)).toEqual({ ...still, folder: '/drive', markerId: 'm', cleanupPath: '/data/models' });
});
