type ResizeEdgeProps = {
  label: string;
  /** The side of the box that the edge is on. */
  side: 'start' | 'end';
  width: number;
  narrowest: number;
  widest: number;
  onMove: (width: number) => void;
  className?: string;
};

/** The edge of a box that is dragged, or moved by the cursor keys. */
export function ResizeEdge({ label, side, width, narrowest, widest, onMove, className = '' }: ResizeEdgeProps) {
  const move = (next: number) => onMove(Math.min(widest, Math.max(narrowest, Math.round(next))));
  const grows = side === 'end' ? 1 : -1;
  /** The box touches the edge of the window, so its width is the distance to the pointer. */
  const widthAt = (x: number) => ((document.dir === 'rtl') === (side === 'end') ? window.innerWidth - x : x);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter is a focusable separator, which <hr> cannot be
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      tabIndex={0}
      className={`absolute inset-y-0 z-10 w-2 cursor-col-resize ${side === 'end' ? '-end-1' : '-start-1'} ${className}`}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => event.buttons === 1 && move(widthAt(event.clientX))}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') move(width - 8 * grows);
        if (event.key === 'ArrowRight') move(width + 8 * grows);
      }}
    />
  );
}
