// How a model looks through the documents, and what it is told where there is none of that name.
import { expect, test } from 'vitest';
import { type DocumentsAsked, readDocument } from '../../../../app/tools/built-in/documents.ts';
import type { CallContext } from '../../../../app/tools/tool.ts';

const document = (name: string, fileName = `${name}.pdf`, status = 'ready') => ({
  id: name,
  name,
  fileName,
  collectionId: 'c1',
  state: { status },
});

function reader(documents: ReturnType<typeof document>[], blocks = 3) {
  const asked = {
    'documents.list': async () => documents,
    'documents.content': async ({ documentId, from, limit }: { documentId: string; from: number; limit: number }) => ({
      blocks: Array.from({ length: Math.max(0, Math.min(limit, blocks - from + 1)) }, (_, at) => ({
        kind: 'paragraph',
        number: from + at,
        text: `${documentId} ${from + at}`,
      })),
    }),
  } as unknown as DocumentsAsked;
  const db = { get: () => undefined, all: () => [], prepare: () => ({ get: () => undefined, all: () => [] }) } as never;
  const tool = readDocument(db, asked);
  return (name: string, part?: number) =>
    tool.run({ name, ...(part && { part }) }, {} as CallContext) as Promise<string>;
}

test('the whole name comes before a part of one, of the document or of its file, however it is written', async () => {
  const read = reader([document('Notes of May'), document('May', 'scan-7.pdf')]);
  expect(await read(' MAY ')).toBe('May, part 1 of 1\n\nMay 1\n\nMay 2\n\nMay 3');
  expect(await read('notes')).toContain('Notes of May, part 1 of 1');
  expect(await read('scan')).toContain('May, part 1');
});

test('a document of more blocks than are given at once is read to its end', async () => {
  const text = await reader([document('Long')], 501)('Long', 1);
  expect(text).toContain('Long 501');
});

test('one that is not there, or not read yet, is answered by the names of the others, sixty at most', async () => {
  const some = reader([document('A'), document('B', 'b.pdf', 'reading')]);
  await expect(some('B')).rejects.toThrow('there is no document "b"; there are: "A"');
  await expect(reader([])('x')).rejects.toThrow('there is no document "x"; there are: none');
  const many = (count: number) => reader(Array.from({ length: count }, (_, at) => document(`D${at}`)));
  await expect(many(60)('x')).rejects.toThrow(/"D59"$/);
  await expect(many(62)('x')).rejects.toThrow(/"D59" and 2 more$/);
});
