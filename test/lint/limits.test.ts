// Section 8 of ARCHITECTURE.md: every limit it names stands in the code as it says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const section = read('ARCHITECTURE.md').split('## 8. Limits')[1]?.split('\n## ')[0] ?? '';
const rows = [...section.matchAll(/^\|[^|]*\|[^|]*\| `([^`]+)`[^|]*\| `([^`]+)` \|$/gm)].map(([, code, path]) => ({
  code: code ?? '',
  path: path ?? '',
}));

test('the table names the limits of the code', () => {
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter(({ code, path }) => !read(path).includes(code))).toEqual([]);
});
