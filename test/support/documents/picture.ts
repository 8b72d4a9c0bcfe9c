import { deflateSync } from 'node:zlib';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { findAssets } from '../../../app/documents/parse/assets.ts';
import { stream, written } from './pdf.ts';

//  Pictures of pages, as from a scanner.

type Canvas = { toBuffer(type: 'image/png'): Uint8Array };
type Factory = {
  create(width: number, height: number): { canvas: Canvas; context: never & { getImageData: GetPixels } };
};
type GetPixels = (x: number, y: number, width: number, height: number) => { data: Uint8ClampedArray };

export type Picture = { png: Buffer; grey: Buffer; width: number; height: number };

/** The first page of a PDF, drawn. */
export async function drawPage(pdf: Uint8Array, scale = 2): Promise<Picture> {
  const { standardFonts, cMaps } = findAssets();
  const task = getDocument({ data: Uint8Array.from(pdf), standardFontDataUrl: standardFonts, cMapUrl: cMaps });
  const document = await task.promise;
  const page = await document.getPage(1);
  const viewport = page.getViewport({ scale });
  const [width, height] = [Math.ceil(viewport.width), Math.ceil(viewport.height)];
  const { canvas, context } = (document.canvasFactory as unknown as Factory).create(width, height);
  await page.render({ canvas: canvas as never, canvasContext: context, viewport }).promise;
  const { data } = (context as { getImageData: GetPixels }).getImageData(0, 0, width, height);
  const grey = Buffer.from(Uint8Array.from({ length: width * height }, (_, at) => data[at * 4] ?? 255));
  const png = Buffer.from(canvas.toBuffer('image/png'));
  await task.destroy();
  return { png, grey, width, height };
}

/** A PDF with a picture on every page and no text. `drawing`: the operators that place it. */
export function scannedPdf(pictures: readonly Picture[], drawing = 'q 595 0 0 842 0 0 cm /pic Do Q'): Buffer {
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', ''];
  const kids = pictures.map(({ grey, width, height }) => {
    const image = objects.push(
      stream(
        `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode`,
        deflateSync(grey),
      ),
    );
    const content = objects.push(stream('', Buffer.from(drawing)));
    return objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${content} 0 R /Resources << /XObject << /pic ${image} 0 R >> >> >>`,
    );
  });
  objects[1] = `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`;
  return written(objects, '');
}
