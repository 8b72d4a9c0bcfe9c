import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { calls, DocumentKind, Settings } from '../../app/protocol/index.ts';
import { root } from '../support/core/core.ts';
import { CLASSES, type ClassName } from './classes.ts';
import { countingFiles } from './counts.ts';
import { CALLS, DOCUMENTS, MODEL_READERS, SETTINGS } from './registry.ts';
import { figuresFile, rowsIn, TABLES } from './table.ts';

const fieldsOf = (schema: z.ZodType): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);

test('every call and every field of a call is attacked', () => {
  expect(Object.keys(CALLS).sort()).toEqual(Object.keys(calls).sort());
  for (const [name, { request }] of Object.entries(calls)) {
    const known = name === 'settings.set' ? SETTINGS : CALLS[name as keyof typeof CALLS];
    expect(Object.keys(known).sort(), `the fields of ${name} in test/attack/registry.ts`).toEqual(
      fieldsOf(request).sort(),
    );
  }
});

test('every setting, kind of document and reader of model files is attacked', () => {
  expect(Object.keys(SETTINGS).sort()).toEqual(Object.keys(Settings.shape).sort());
  expect(Object.keys(DOCUMENTS).sort()).toEqual([...DocumentKind.options].sort());
  const readers = readdirSync(join(root, 'native', 'formats'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.cc'))
    .map((file) => basename(file, '.cc'));
  expect(Object.keys(MODEL_READERS).sort()).toEqual(readers.sort());
});

test('every class names files that are there, and every file of attacks has a class', () => {
  const files = Object.values(CLASSES).flatMap((one) => one.files);
  for (const file of files) expect(existsSync(join(root, 'test', file)), file).toBe(true);
  const here = readdirSync(import.meta.dirname).filter(
    (file) => /\.test\.ts$/.test(file) && file !== 'registry.test.ts',
  );
  for (const file of here) expect(files, file).toContain(`attack/${file}`);
});

test('files of attacks count them under their own class', () => {
  for (const [name, { files }] of Object.entries(CLASSES) as [ClassName, { files: readonly string[] }][]) {
    for (const file of files.filter((one) => one.startsWith('attack/'))) {
      expect(readFileSync(join(root, 'test', file), 'utf8').includes(`tallyOf('${name}')`), file).toBe(true);
    }
  }
});

test('the table is the sum of what it lists, each a class that is counted, and the page says what it says', () => {
  const [readme = [], here = []] = TABLES.map((path) => rowsIn(readFileSync(join(root, path), 'utf8')));
  expect(here).toEqual(readme);
  const rows = readme.slice(0, -1);
  const counting = (Object.keys(CLASSES) as ClassName[]).filter((name) => countingFiles(name).length > 0);
  const titles: string[] = counting.map((name) => CLASSES[name].title);
  expect(rows.map(({ title }) => title)).toEqual(titles);
  const sum = (key: 'tried' | 'refused') => rows.reduce((total, row) => total + row[key], 0);
  const all = { tried: sum('tried'), refused: sum('refused') };
  expect(readme.at(-1)).toEqual({ title: '**all**', ...all });
  expect(JSON.parse(readFileSync(join(root, figuresFile), 'utf8'))).toEqual({ kinds: rows.length, ...all });
});
