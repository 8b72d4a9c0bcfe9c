import type { PageMark } from './marks.ts';

/** Highlighter strokes under the print, a little taller than the letters, as from a pen. */
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
