import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openDatabase } from '../../app/store/database/database.ts';
import { makePdf } from './documents/pdf.ts';

export const sentence = (file: number, at: number) =>
  `Sentence ${at} of file ${file} speaks of subject ${(file * 31 + at * 7) % 97}.`;
export const prose = (file: number, count: number) =>
  Array.from({ length: count }, (_, at) => sentence(file, at) + (at % 5 === 4 ? '\n\n' : ' ')).join('');

export function writeFiles(folder: string): string[] {
  const pages = Array.from({ length: 40 }, (_, at) => ({ texts: [{ text: sentence(99, at), x: 60, y: 700 }] }));
  writeFileSync(join(folder, 'a.pdf'), makePdf({ pages }));
  for (let file = 0; file < 8; file++) writeFileSync(join(folder, `t${file}.txt`), prose(file, 150));
  writeFileSync(join(folder, 'twin.txt'), prose(3, 150));
  return ['a.pdf', ...Array.from({ length: 8 }, (_, at) => `t${at}.txt`), 'twin.txt'].map((name) => join(folder, name));
}

/** The texts that were read, by file. */
export function contents(dataFolder: string): Record<string, string[]> {
  const db = openDatabase(join(dataFolder, 'longhand.db'), { readOnly: true });
  const rows = db.all<{ name: string; text: string; position: number }>(
    `SELECT d.file_name AS name, p.text, p.position FROM passages p JOIN documents d ON d.number = p.document
     WHERE d.deleted_at IS NULL ORDER BY d.file_name, p.position`,
  );
  const indexed = db.get<{ count: number }>('SELECT COUNT(*) AS count FROM passage_words');
  db.close();
  expect(indexed?.count).toBe(rows.length);
  const found: Record<string, string[]> = {};
  for (const { name, text } of rows) {
    found[name] = [...(found[name] ?? []), text];
  }
  return found;
}
