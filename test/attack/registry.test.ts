import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { calls, DocumentKind, Settings } from '../../app/protocol/index.ts';
import { root } from '../support/core.ts';
import { CLASSES, type ClassName } from './classes.ts';
import { CALLS, DOCUMENTS, MODEL_READERS, SETTINGS } from './registry.ts';

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
  const readers = readdirSync(join(root, 'native', 'formats'))
    .filter((file) => file.endsWith('.cc'))
    .map((file) => file.slice(0, -'.cc'.length));
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
