import { type PDFDocumentProxy, type RenderTask, TextLayer } from 'pdfjs-dist';
import { memo, useEffect, useRef } from 'react';
import type { PageSize } from './layout.ts';
import type { PageMark } from './marks.ts';
import { PageMarks } from './page-marks.tsx';

type PdfPageProps = {
  pdf: PDFDocumentProxy;
  number: number;
  label: string;
  size: PageSize;
  scale: number;
  top: number;
  marks: readonly PageMark[];
  inverted: boolean;
  onSize: (page: number, size: PageSize) => void;
  /** Called when the text layer of the page is ready to be searched. */
  onText: () => void;
};

/** Beyond this a canvas is drawn at lower resolution, since the browser would refuse it. */
const MAX_PIXELS = 16_000_000;

/** One page: paper, marks, the print over both, and the selectable text on top. */
export const PdfPage = memo(function PdfPage(props: PdfPageProps) {
  const { pdf, number, label, size, scale, top, marks, inverted, onSize, onText } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const layer = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let gone = false;
    let drawing: RenderTask | null = null;
    let text: TextLayer | null = null;
    const draw = async () => {
      const page = await pdf.getPage(number);
      const shown = page.getViewport({ scale: 1 });
      if (gone || !canvas.current || !layer.current) return;
      onSize(number, { width: shown.width, height: shown.height });
      const wanted = scale * window.devicePixelRatio;
      const sharp = Math.min(wanted, Math.sqrt(MAX_PIXELS / (shown.width * shown.height)));
      const print = document.createElement('canvas');
      const viewport = page.getViewport({ scale: sharp });
      print.width = Math.ceil(viewport.width);
      print.height = Math.ceil(viewport.height);
      drawing = page.render({ canvas: print, viewport });
      const content = page.getTextContent();
      await drawing.promise;
      if (gone || !canvas.current || !layer.current) return;
      canvas.current.width = print.width;
      canvas.current.height = print.height;
      canvas.current.getContext('2d')?.drawImage(print, 0, 0);
      layer.current.replaceChildren();
      text = new TextLayer({
        textContentSource: await content,
        container: layer.current,
        viewport: page.getViewport({ scale: 1 }),
      });
      await text.render();
      if (!gone) onText();
    };
    draw().catch(() => {});
    return () => {
      gone = true;
      drawing?.cancel();
      text?.cancel();
    };
  }, [pdf, number, scale, onSize, onText]);

  return (
    <section
      aria-label={label}
      data-page={number}
      className={`paper absolute ${inverted ? 'inverted' : ''}`}
      style={{ top, width: size.width * scale, height: size.height * scale }}
    >
      <PageMarks marks={marks} scale={scale} />
      <canvas ref={canvas} aria-hidden className="print" />
      <div ref={layer} className="textlayer" style={{ '--total-scale-factor': scale } as React.CSSProperties} />
    </section>
  );
});
