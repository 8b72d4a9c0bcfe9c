// How large the small files beside the weights may be.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readModelJson, readModelText } from '../../../../../app/engine/process/model/model-json.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhand-json-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const read = (text: string) => {
  writeFileSync(join(folder, 'a.json'), text);
  return readModelJson(folder, 'a.json');
};
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('two hundred levels are read, one more is not; levels that end do not add up', () => {
  expect(() => read(nested(200))).not.toThrow();
  expect(() => read(nested(201))).toThrow('[a.json] is deeper than 200 levels, which is the limit');
  expect(() => read(`${'{"a":'.repeat(201)}1${'}'.repeat(201)}`)).toThrow('is deeper than 200 levels');
  expect(() => read(`[${Array(300).fill('{"a":[]}').join()}]`)).not.toThrow();
});

test('brackets within texts are no levels, however a text escapes its quotes', () => {
  const texts = ['['.repeat(300), `${'['.repeat(300)}"${'{'.repeat(300)}`, `\\${'['.repeat(300)}`, '\\"\\\\"[['];
  expect(read(JSON.stringify(texts))).toEqual(texts);
  expect(() => read(`"${'['.repeat(300)}`)).toThrow('[a.json] is not JSON');
  // Behind an escaped backslash the text has ended.
  expect(() => read(`["\\\\",${nested(200)}]`)).toThrow('is deeper');
});

test('a million fields and two and a half million values are the limits', () => {
  const fields = (count: number) => () => read(`{${Array(count).fill('"a":1').join()}}`);
  expect(fields(1_000_000)).not.toThrow();
  expect(fields(1_000_001)).toThrow('[a.json] has 1000001 fields, at most 1000000 are allowed');
  // A list of n values has n - 1 commas and itself.
  const values = (count: number) => () => read(`[${Array(count).fill('1').join()}]`);
  expect(values(2_500_000)).not.toThrow();
  expect(values(2_500_001)).toThrow('[a.json] has 2500001 values, at most 2500000 are allowed');
});

test('what is not there is nothing, and a text may be four megabytes long', () => {
  expect(readModelJson(folder, 'gone.json')).toBeUndefined();
  expect(readModelText(folder, 'gone.jinja')).toBeUndefined();
  const text = (length: number) => {
    writeFileSync(join(folder, 'a.jinja'), 'x'.repeat(length));
    return readModelText(folder, 'a.jinja');
  };
  expect(text(4 * 1024 * 1024)).toHaveLength(4 * 1024 * 1024);
  expect(() => text(4 * 1024 * 1024 + 1)).toThrow('[a.jinja] ');
});
