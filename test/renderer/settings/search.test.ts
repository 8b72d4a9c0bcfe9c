import { expect, test } from 'vitest';
import { matchingSections } from '../../../renderer/settings/search.ts';
import type { SettingsSection } from '../../../renderer/stores/shell.ts';

const sections: SettingsSection[] = ['appearance', 'downloads', 'storage', 'engine'];

test.each([
  ['prepared copies', ['storage']],
  ['quantised', ['storage']],
  ['threads', ['engine']],
  ['folder', ['downloads', 'storage']],
])('"%s" leads to the pages that have it', (query, found) => {
  expect(matchingSections(sections, query)).toEqual(found);
});

test('nothing typed leaves all pages, a word that no page has none', () => {
  expect(matchingSections(sections, ' ')).toEqual(sections);
  expect(matchingSections(sections, 'zeppelin')).toEqual([]);
});
