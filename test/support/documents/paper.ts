import type { Rectangle, Span } from '../../../app/protocol/index.ts';

//  Typeset pages for screenshots: paragraphs in Times, broken into lines, in a small PDF file that a browser can write too.

/** Widths of Times Roman from space to tilde, in thousandths of the size (Adobe's font metrics). */
const WIDTHS = [
  250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
  500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
  722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
  444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
  200, 480, 541,
];

export const PAGE = { width: 595, height: 842 };

export type Line = {
  text: string;
  x: number /** Of the baseline, from above. */;
  y: number;
  size: number;
  bold?: boolean;
};

export const widthOf = (text: string, size: number): number =>
  ([...text].reduce((sum, char) => sum + (WIDTHS[char.charCodeAt(0) - 32] ?? 500), 0) * size) / 1000;

/** The place of a piece of a line on its page. */
export function rectangleOf(line: Line, from: number, to: number): Rectangle {
  const x = line.x + widthOf(line.text.slice(0, from), line.size);
  const width = widthOf(line.text.slice(from, to), line.size);
  return [x, line.y - 0.78 * line.size, width, 1.02 * line.size];
}

export type Paragraph = { text: string; size?: number; bold?: boolean; after?: number };

/** Breaks paragraphs into the lines of a page with the margins of a book. */
export function setPage(paragraphs: readonly Paragraph[], margin = 64): Line[] {
  const lines: Line[] = [];
  let y = margin + 16;
  for (const { text, size = 11, bold = false, after = 8 } of paragraphs) {
    for (const piece of broken(text, PAGE.width - 2 * margin, size)) {
      lines.push({ text: piece, x: margin, y, size, bold });
      y += size * 1.45;
    }
    y += after;
  }
  return lines;
}

function broken(text: string, width: number, size: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer, size) > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === '' ? lines : [...lines, line];
}

/** Rectangles of the characters [start, end) of the joined lines, one per line. */
function rectanglesFrom(lines: readonly Line[], start: number, end: number): Rectangle[] {
  let at = 0;
  return lines.flatMap((line) => {
    const from = Math.max(0, start - at);
    const to = Math.min(line.text.length, end - at);
    at += line.text.length + 1;
    return to > from ? [rectangleOf(line, from, to)] : [];
  });
}

/** A span for every word of a text on a page, as the document parser makes them. */
export function wordSpans(lines: readonly Line[], text: string, page: number): Span[] {
  const whole = lines.map((line) => line.text).join(' ');
  const shift = whole.indexOf(text);
  return [...text.matchAll(/\S+/g)].map((match) => {
    const before = whole.slice(0, shift + match.index);
    const rectangles = rectanglesFrom(lines, before.length, before.length + match[0].length);
    return { start: match.index, end: match.index + match[0].length, place: { kind: 'page', page, rectangles } };
  });
}

const escaped = (text: string) => text.replace(/[\\()]/g, '\\$&');

function contentOf(lines: readonly Line[]): string {
  return lines
    .map(
      ({ text, x, y, size, bold }) =>
        `BT /${bold ? 'F2' : 'F1'} ${size} Tf ${x.toFixed(2)} ${(PAGE.height - y).toFixed(2)} Td (${escaped(text)}) Tj ET`,
    )
    .join('\n');
}

/** A PDF file of these pages. ASCII only. */
export function writePdf(pages: readonly (readonly Line[])[], title: string): Uint8Array {
  const objects: string[] = [];
  const put = (body: string) => objects.push(body);
  const first = 6;
  const kids = pages.map((_, index) => `${first + 2 * index} 0 R`).join(' ');
  put('<< /Type /Catalog /Pages 2 0 R >>');
  put(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  put('<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>');
  put('<< /Type /Font /Subtype /Type1 /BaseFont /Times-Bold /Encoding /WinAnsiEncoding >>');
  put(`<< /Title (${escaped(title)}) >>`);
  pages.forEach((lines, index) => {
    const content = contentOf(lines);
    put(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents ${first + 2 * index + 1} 0 R >>`,
    );
    put(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  });
  let file = '%PDF-1.4\n';
  const places = objects.map((body, index) => {
    const place = file.length;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return place;
  });
  const table = file.length;
  const rows = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  file += `trailer << /Size ${objects.length + 1} /Root 1 0 R /Info 5 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Uint8Array.from(file, (char) => char.charCodeAt(0));
}
