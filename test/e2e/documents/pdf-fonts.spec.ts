import type { Page } from '@playwright/test';
import { stream, written } from '../../support/documents/pdf.ts';
import { drawnByPoppler, type Greys, hasPoppler, inkCovered } from '../../support/documents/poppler.ts';
import { begin, expect, test } from '../app.ts';
import { list, openDocuments, pdf, upload } from './shelf.ts';

//  Fonts that a PDF leaves to its reader. Most letters and invoices do so with Helvetica and Times.

const LINES = [
  ['Helvetica', 22, 'Willow mill, quilting: illiterate WAVES (2,418 miles)'],
  ['Helvetica-Bold', 22, 'Willow mill, quilting: illiterate WAVES'],
  ['Times-Roman', 22, 'Willow mill, quilting: illiterate WAVES (2,418 miles)'],
  ['Times-Italic', 22, 'Willow mill, quilting: illiterate WAVES'],
  ['Courier', 16, 'Willow mill, quilting: illiterate WAVES'],
] as const;

function withoutItsFonts(): Buffer {
  const shown = LINES.map(
    ([, size, text], at) => `BT /F${at} ${size} Tf 50 ${760 - 60 * at} Td (${text.replace(/[()]/g, '\\$&')}) Tj ET`,
  );
  const fonts = LINES.map(
    ([name]) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`,
  );
  const resources = `/Font << ${fonts.map((_, at) => `/F${at} ${at + 5} 0 R`).join(' ')} >>`;
  return written(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << ${resources} >> >>`,
      stream('', Buffer.from(shown.join('\n'))),
      ...fonts,
    ],
    '',
  );
}

/** The print of the first page, as the viewer drew it. */
async function drawn(page: Page): Promise<Greys> {
  await expect(page.locator('[data-page="1"] .textlayer span').first()).toBeAttached();
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('[data-page="1"] canvas.print');
    const context = canvas?.getContext('2d');
    if (!canvas || !context) throw new Error('no page is drawn');
    const { width, height } = canvas;
    const { data } = context.getImageData(0, 0, width, height);
    // Where nothing is printed the canvas is clear, or white.
    const grey = (at: number) => 255 - (data[at + 3] as number) * (1 - (data[at] as number) / 255);
    return { width, height, pixels: Array.from({ length: width * height }, (_, at) => grey(at * 4)) };
  });
}

test('fonts that a PDF does not bring are drawn as another reader draws them', async ({ page, app, problems }) => {
  test.skip(!hasPoppler(), 'needs pdftoppm: apt-get install poppler-utils');
  const file = withoutItsFonts();
  await begin(page, app);
  await openDocuments(page);
  await upload(page, pdf('letter.pdf', file));
  await list(page)
    .getByRole('button', { name: /letter/ })
    .first()
    .click();
  const ours = await drawn(page);
  const theirs = drawnByPoppler(file, ours.width, ours.height);
  expect(inkCovered(ours, theirs)).toBeGreaterThan(0.98);
  expect(inkCovered(theirs, ours)).toBeGreaterThan(0.98);
  expect(problems).toEqual([]);
});
