/** Progress beside a name in the sidebar. */
export function ProgressRing({ share, label }: { share: number; label: string }) {
  const length = 2 * Math.PI * 5;
  return (
    <svg viewBox="0 0 14 14" role="img" aria-label={label} className="block size-3.5 flex-none -rotate-90">
      <circle cx="7" cy="7" r="5" fill="none" strokeWidth="2" className="stroke-line-strong" />
      <circle
        cx="7"
        cy="7"
        r="5"
        fill="none"
        strokeWidth="2"
        strokeDasharray={`${Math.min(1, Math.max(0, share)) * length} ${length}`}
        className="stroke-ink"
      />
    </svg>
  );
}
