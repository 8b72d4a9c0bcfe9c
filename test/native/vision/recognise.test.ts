//  Texts in pictures by the system: on a Mac a page is drawn and read; elsewhere the addon says that it cannot.
import { expect, test } from 'vitest';
import { addon } from '../../support/addon.ts';
import { makePdf } from '../../support/documents/pdf.ts';
import { drawPage } from '../../support/documents/picture.ts';

const mac = process.platform === 'darwin';

test('a drawn page: words with their places on a Mac, a reason elsewhere', { timeout: 60_000 }, async () => {
  expect(addon.canRecognise()).toBe(mac);
  const texts = [{ text: 'The lighthouse keeper counts ships.', x: 72, y: 700, size: 14, font: 'mono' as const }];
  const { png } = await drawPage(makePdf({ pages: [{ texts }] }));
  const reading = addon.recognise(png);
  if (!mac) {
    await expect(reading).rejects.toMatchObject({ code: 'unsupported' });
    return;
  }
  const [line] = await reading;
  expect(line?.words.map(({ text }) => text)).toEqual(['The', 'lighthouse', 'keeper', 'counts', 'ships.']);
  // Drawn at twice the size; "The " is four times 8.4 points wide.
  const { left, right } = line?.words[1]?.box ?? { left: 0, right: 0 };
  expect(Math.abs(left / 2 - 72 - 4 * 8.4)).toBeLessThan(4);
  expect(Math.abs(right / 2 - 72 - 14 * 8.4)).toBeLessThan(4);
  await expect(addon.recognise(Uint8Array.of(1, 2, 3))).rejects.toMatchObject({ code: 'format' });
});
