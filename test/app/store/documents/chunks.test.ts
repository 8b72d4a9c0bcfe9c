// Passages as they are read back.
import { expect, test } from 'vitest';
import { packSpans } from '../../../../app/documents/chunk/span-codec.ts';
import type { CollectionId } from '../../../../app/protocol/index.ts';
import { collectionPassages } from '../../../../app/store/documents/chunks.ts';
import { open } from '../support.ts';

test('all passages of a collection are read where they are short enough, and none where they are not', async () => {
  const { db } = await open();
  db.run(`INSERT INTO collections (id, name, created_at) VALUES ('a', 'a', 0)`);
  db.run(`INSERT INTO documents (id, collection_id, name, file_name, kind, source_path, status, state, bytes, added_at, source_changed_at)
    VALUES ('a', 'a', 'a', 'a', 'text', '/a', 'ready', '{}', 1, 0, 0)`);
  db.run(
    `INSERT INTO passages (id, document, position, text, overlap, headings, spans)
     SELECT value, (SELECT number FROM documents), value, printf('%.500c', 'x'), 0, '[]', ? FROM json_each('[1, 2, 3]')`,
    packSpans([]),
  );
  expect(await collectionPassages(db, ['a' as CollectionId], 1500)).toHaveLength(3);
  expect(await collectionPassages(db, ['a' as CollectionId], 1499)).toBeNull();
});
