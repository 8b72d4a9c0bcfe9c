import type { PDFDocumentProxy } from 'pdfjs-dist';

/** Pixels of the longer side: small print stays legible, and models downscale anything larger. */
const LONGEST = 2048;

/** One page as printed, without marks. */
export async function pictureOfPage(pdf: PDFDocumentProxy, number: number): Promise<Blob> {
  const page = await pdf.getPage(number);
  const { width, height } = page.getViewport({ scale: 1 });
  const viewport = page.getViewport({ scale: LONGEST / Math.max(width, height) });
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  await page.render({ canvas, viewport }).promise;
  return new Promise((resolve, reject) => {
    const taken = (blob: Blob | null) => (blob ? resolve(blob) : reject(new Error('[pdf] the page gave no picture')));
    canvas.toBlob(taken, 'image/png');
  });
}
