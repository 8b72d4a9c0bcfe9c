type DeltaBarProps = { change: number; widest: number; better: boolean | null };

/** How much B differs from A, from the middle: right is more, left is less. The figure is beside it. */
export function DeltaBar({ change, widest, better }: DeltaBarProps) {
  const half = 50 * Math.min(1, Math.abs(change) / widest);
  const tone = better === null ? 'bg-edge' : better ? 'bg-ok' : 'bg-warn';
  return (
    <span aria-hidden dir="ltr" className="relative block h-2 w-36 rounded-full bg-select">
      <span
        className={`absolute inset-y-0 ${tone} ${change < 0 ? 'rounded-l-full' : 'rounded-r-full'}`}
        style={{ width: `${half}%`, left: `${change < 0 ? 50 - half : 50}%` }}
      />
      <span className="absolute -inset-y-0.5 left-1/2 w-px bg-fg-3" />
    </span>
  );
}
