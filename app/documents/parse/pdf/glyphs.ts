import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';

//  Interprets page content only as far as text needs it (PDF 32000-1, 9.4): the position of every glyph and the width its font
//  declares. Nothing is guessed from string lengths.

/** One glyph. `origin`: the pen before it; `along`: from there to the pen after it; `up`: one em upwards. In points of the
 *  page as it is shown, y downwards. */
export type Glyph = {
  text: string;
  origin: Point;
  along: Point;
  up: Point;
  /** Its box, in ems above and below the baseline. Upright glyphs of vertical writing: `side` ems left of the pen. */
  ascent: number;
  descent: number;
  vertical: { side: number; width: number } | null;
  /** Character spacing in points: letter-spaced text still forms words. */
  tracking: number;
  font: PageFont;
};
export type Point = readonly [number, number];

export type PageFont = { name: string; bold: boolean; mapped: boolean };

type Matrix = readonly [number, number, number, number, number, number];
type PdfGlyph = {
  unicode: string;
  width: number;
  isSpace: boolean;
  vmetric?: number[] | null;
  originalCharCode?: number;
};
type PdfFont = {
  name?: string;
  bold?: boolean;
  black?: boolean;
  vertical?: boolean;
  composite?: boolean;
  isType3Font?: boolean;
  fontMatrix?: number[] | null;
  ascent?: number;
  descent?: number;
};

/** The font in the current text state. */
type Face = { pdf: PdfFont; unit: number; ascent: number; descent: number; seen: PageFont };

type TextState = {
  ctm: Matrix;
  face: Face | null;
  size: number;
  flipped: boolean;
  charSpacing: number;
  wordSpacing: number;
  scale: number;
  leading: number;
  rise: number;
};

/** Maximum glyphs per page; a newspaper page has 50,000. */
export const MAX_GLYPHS = 150_000;

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** `a` first, then `b`. */
const times = (b: Matrix, a: Matrix): Matrix => [
  b[0] * a[0] + b[2] * a[1],
  b[1] * a[0] + b[3] * a[1],
  b[0] * a[2] + b[2] * a[3],
  b[1] * a[2] + b[3] * a[3],
  b[0] * a[4] + b[2] * a[5] + b[4],
  b[1] * a[4] + b[3] * a[5] + b[5],
];
const turned = (m: Matrix, x: number, y: number): Point => [m[0] * x + m[2] * y, m[1] * x + m[3] * y];
const moved = (m: Matrix, x: number, y: number): Point => [m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]];

/** All glyphs of a page in drawing order, and whether the page draws anything. */
export async function readGlyphs(page: PDFPageProxy): Promise<{ glyphs: Glyph[]; draws: boolean; cut: boolean }> {
  const { fnArray, argsArray } = await page.getOperatorList();
  const faces = new Map<string, Face>();
  const base = page.getViewport({ scale: 1 }).transform as unknown as Matrix;
  const glyphs: Glyph[] = [];

  let state: TextState = {
    ctm: base,
    face: null,
    size: 0,
    flipped: false,
    charSpacing: 0,
    wordSpacing: 0,
    scale: 1,
    leading: 0,
    rise: 0,
  };
  const saved: TextState[] = [];
  let textMatrix: Matrix = IDENTITY;
  let [x, y, lineX, lineY] = [0, 0, 0, 0];

  const set = (patch: Partial<TextState>) => void Object.assign(state, patch);
  const restore = () => {
    state = saved.pop() ?? state;
  };
  const moveText = (dx: number, dy: number) => {
    x = lineX += dx;
    y = lineY += dy;
  };
  const setTextMatrix = (matrix: Matrix) => {
    textMatrix = matrix;
    [x, y, lineX, lineY] = [0, 0, 0, 0];
  };
  const faceOf = (name: string): Face => {
    const known = faces.get(name) ?? newFace((page.commonObjs.has(name) ? page.commonObjs.get(name) : {}) as PdfFont);
    faces.set(name, known);
    return known;
  };

  function show(shown: readonly (PdfGlyph | number)[]) {
    const { face, size, charSpacing, wordSpacing, scale, rise, ctm, flipped } = state;
    if (!face || size === 0) return;
    const direction = flipped ? -1 : 1;
    const matrix = times(ctm, textMatrix);
    const vertical = face.pdf.vertical === true;
    const across = vertical ? 1 : scale * direction;
    for (const glyph of shown) {
      if (glyphs.length >= MAX_GLYPHS) return;
      if (typeof glyph === 'number') {
        if (vertical) y -= (glyph * size) / 1000;
        else x -= ((glyph * size) / 1000) * across;
        continue;
      }
      const spacing = (glyph.isSpace ? wordSpacing : 0) + charSpacing;
      const metric = vertical ? (glyph.vmetric ?? [-1000, 500, 880]) : null;
      const width = metric ? (metric[0] ?? -1000) * face.unit * size : glyph.width * face.unit * size;
      if (glyph.unicode !== '') {
        note(face.seen, glyph);
        glyphs.push({
          text: glyph.unicode,
          origin: moved(matrix, x, y + rise),
          along: metric ? turned(matrix, 0, width) : turned(matrix, width * across, 0),
          up: turned(matrix, 0, size * direction),
          ascent: face.ascent,
          descent: face.descent,
          tracking: Math.hypot(...turned(matrix, Math.max(0, charSpacing) * scale, 0)),
          vertical: metric ? { side: (metric[1] ?? 500) * face.unit, width: glyph.width * face.unit } : null,
          font: face.seen,
        });
      }
      if (metric) y += width - spacing;
      else x += (width + spacing * direction) * across;
    }
  }

  const operators: Partial<Record<number, (args: never) => void>> = {
    [OPS.save]: () => void saved.push({ ...state }),
    [OPS.restore]: () => restore(),
    [OPS.transform]: (matrix: Matrix) => set({ ctm: times(state.ctm, matrix) }),
    [OPS.paintFormXObjectBegin]: ([matrix]: [Matrix | null]) => {
      saved.push({ ...state });
      if (matrix) set({ ctm: times(state.ctm, matrix) });
    },
    [OPS.paintFormXObjectEnd]: () => restore(),
    [OPS.beginAnnotation]: ([, , transform, matrix]: [unknown, unknown, Matrix, Matrix]) => {
      saved.push({ ...state });
      state.ctm = times(times(base, transform), matrix);
    },
    [OPS.endAnnotation]: () => restore(),
    [OPS.beginText]: () => setTextMatrix(IDENTITY),
    [OPS.setCharSpacing]: ([value]: [number]) => set({ charSpacing: value }),
    [OPS.setWordSpacing]: ([value]: [number]) => set({ wordSpacing: value }),
    [OPS.setHScale]: ([value]: [number]) => set({ scale: value / 100 }),
    [OPS.setLeading]: ([value]: [number]) => set({ leading: -value }),
    [OPS.setTextRise]: ([value]: [number]) => set({ rise: value }),
    [OPS.setFont]: ([name, size]: [string, number]) => {
      state.face = faceOf(name);
      state.size = Math.abs(size);
      state.flipped = size < 0;
    },
    [OPS.moveText]: ([dx, dy]: [number, number]) => moveText(dx, dy),
    [OPS.setLeadingMoveText]: ([dx, dy]: [number, number]) => {
      state.leading = dy;
      moveText(dx, dy);
    },
    [OPS.setTextMatrix]: (args: [Matrix] | Matrix) =>
      setTextMatrix(typeof args[0] === 'number' ? (args as Matrix) : (args[0] as Matrix)),
    [OPS.nextLine]: () => moveText(0, state.leading),
    [OPS.showText]: ([shown]: [(PdfGlyph | number)[]]) => show(shown),
  };
  for (const [at, operator] of fnArray.entries()) operators[operator]?.(argsArray[at] as never);
  return { glyphs, draws: fnArray.length > 0, cut: glyphs.length >= MAX_GLYPHS };
}

function newFace(pdf: PdfFont): Face {
  const unit = pdf.fontMatrix?.[0] || 0.001;
  return {
    pdf,
    unit,
    ascent: between(pdf.ascent, 0.5, 1.1, 0.8),
    descent: between(pdf.descent, -0.5, 0, -0.22),
    seen: {
      name: pdf.name ?? '',
      bold: pdf.bold === true || pdf.black === true || /bold|black|heavy|demi/i.test(pdf.name ?? ''),
      mapped: true,
    },
  };
}

/** Clamps font metrics, which often declare boxes that extend into other lines. */
function between(value: number | undefined, low: number, high: number, usual: number): number {
  if (value === undefined || !Number.isFinite(value) || value === 0) return usual;
  return Math.min(high, Math.max(low, value));
}

/** Counts codes without a Unicode mapping, whose characters are unknown. */
function note(font: PageFont, { unicode, originalCharCode }: PdfGlyph) {
  const code = unicode.charCodeAt(0);
  const bare = unicode.length === 1 && code === originalCharCode;
  if (code === 0xfffd || (bare && code < 0x20 && code !== 9 && code !== 10 && code !== 13)) font.mapped = false;
}
