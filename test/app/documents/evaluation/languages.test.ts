import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { languageOf } from '../../../../app/documents/search/languages/detect.ts';
import { openShelf } from '../../../support/documents/documents.ts';
import { holds, readExam } from '../../../support/documents/exam-sets.ts';

//  Questions in other languages over documents in the same, all in one collection, by words alone.

vi.setConfig({ testTimeout: 120_000 });

const exam = readExam(join(import.meta.dirname, 'languages'), { most: 1000 });
const languages = ['ar', 'de', 'es', 'fr', 'ja', 'ru', 'zh'];

describe('a question is known by its language', () => {
  test.each(languages)('%s', (code) => {
    const own = exam.questions.filter(({ kinds }) => kinds.includes(code));
    expect(own.length).toBeGreaterThanOrEqual(14);
    expect(own.filter(({ text }) => languageOf(text)?.code !== code)).toEqual([]);
  });

  test('and English by being none of them', () => {
    const lines = readFileSync(join(import.meta.dirname, 'report', 'answerable.tsv'), 'utf8')
      .trim()
      .split('\n');
    const others = lines.map((line) => line.split('\t')[2] ?? '').filter((question) => languageOf(question) !== null);
    expect(others).toEqual([]);
  });
});

test('most are answered, nearly all of these rightly, and what no document says is refused', async () => {
  const shelf = await openShelf();
  const files = exam.files.map((file) => [file.name, 'path' in file ? readFileSync(file.path) : file.text] as const);
  await shelf.add(Object.fromEntries(files));
  const counts = new Map(languages.map((code) => [code, { can: 0, answered: 0, right: 0, cannot: 0, refused: 0 }]));
  for (const { text, gold, kinds } of exam.questions) {
    const count = counts.get(kinds.at(-1) ?? '');
    if (!count) throw new Error(`no language of ${text}`);
    const { sure, candidates } = await shelf.documents.answering.score(text, [shelf.collection.id]);
    const [best] = candidates;
    if (gold === null) {
      count.cannot++;
      if (!sure) count.refused++;
      continue;
    }
    count.can++;
    if (!sure || !best) continue;
    count.answered++;
    if (holds(gold, best.passage.fileName, best.passage.text)) count.right++;
  }
  console.log(JSON.stringify(Object.fromEntries(counts)));
  for (const [code, { can, answered, right, cannot, refused }] of counts) {
    expect(answered / can, code).toBeGreaterThanOrEqual(0.65);
    expect(right / answered, code).toBeGreaterThanOrEqual(0.85);
    expect(refused / cannot, code).toBeGreaterThanOrEqual(0.8);
  }
});
