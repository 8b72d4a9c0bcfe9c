import i18n from 'i18next';
import { expect, test } from 'vitest';
import type { Location } from '../../../app/protocol/index.ts';
import { locationText, whereOf as whereInText } from '../../../app/text/location.ts';
import { aboutLocation, whereOf } from '../../../renderer/lib/location.ts';
import en from '../../../renderer/strings/en.json' with { type: 'json' };

const page = i18n.createInstance();
await page.init({
  lng: 'en',
  resources: { en: { translation: en } },
  interpolation: { escapeValue: false },
});

const CASES: readonly (readonly [Location | null, string])[] = [
  [{ kind: 'page', page: 14 }, 'p. 14'],
  [{ kind: 'slide', slide: 3 }, 'slide 3'],
  [{ kind: 'line', line: 20 }, 'line 20'],
  [{ kind: 'block', block: 7 }, '¶ 7'],
  [{ kind: 'cells', range: 'B4:D9' }, 'B4:D9'],
  [null, ''],
];

test.each(CASES)('%j is "%s" on the page, and to models and terminals', (location, words) => {
  expect(aboutLocation(location, page.t)).toBe(words);
  expect(locationText(location)).toBe(words);
  const where = words === '' ? 'report.pdf' : `report.pdf, ${words}`;
  expect(whereOf('report.pdf', location, page.t)).toBe(where);
  expect(whereInText({ name: 'report.pdf', location })).toBe(where);
});

test('the page has words of its own language', async () => {
  const german = i18n.createInstance();
  const location = { page: 'S. {{page}}', in: '{{name}}, {{location}}' };
  await german.init({
    lng: 'de',
    resources: { de: { translation: { location } } },
  });
  expect(whereOf('Bericht', { kind: 'page', page: 4 }, german.t)).toBe('Bericht, S. 4');
});
