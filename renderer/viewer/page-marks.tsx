import type { PageMark } from './marks.ts';

/** The marker's strokes, under the print. A little taller than the letters, as a pen is. */
export function PageMarks({ marks, scale }: { marks: readonly PageMark[]; scale: number }) {
  return marks.map(({ rectangle: [x, y, width, height], strength }) => (
    <span
      key={`${x} ${y} ${width} ${height}`}
      data-mark={strength}
      aria-hidden
      className={`absolute rounded-[2px] ${strength === 'current' ? 'bg-page-marker' : 'page-marker-soft'}`}
      style={{ left: x * scale, top: y * scale, width: width * scale, height: height * scale }}
    />
  ));
}
