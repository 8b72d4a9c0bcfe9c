export type MeterPart = { share: number; tone: 'edge' | 'ink' | 'warn' | 'bad' };

const tones: Record<MeterPart['tone'], string> = { edge: 'bg-edge', ink: 'bg-ink', warn: 'bg-warn', bad: 'bg-bad' };

/** A bar of parts of a whole; shares are 0 to 1. The label says what it shows. */
export function Meter({
  parts,
  label,
  className = 'h-1.5',
}: {
  parts: MeterPart[];
  label: string;
  className?: string;
}) {
  return (
    <span role="img" aria-label={label} className={`flex gap-px overflow-hidden rounded-full bg-select ${className}`}>
      {parts.map((part) => (
        <span
          key={part.tone}
          className={`block h-full ${tones[part.tone]}`}
          style={{ width: `${clamp(part.share) * 100}%` }}
        />
      ))}
    </span>
  );
}

/** How far something is; `share` is 0 to 1. */
export function Progress({
  share,
  label,
  tone = 'ink',
  className = 'my-2.5 block h-1.5',
}: {
  share: number;
  label: string;
  tone?: MeterPart['tone'];
  className?: string;
}) {
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      className={`overflow-hidden rounded-full bg-select ${className}`}
    >
      <span className={`block h-full ${tones[tone]}`} style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** Resources turn warn at 80 % and bad at 100 %; what is about to be added stays ink. */
export function resourceParts(used: number, added: number, limit: number): MeterPart[] {
  if (limit <= 0) return [];
  const full = used + added;
  const tone = full > limit ? 'bad' : full >= 0.8 * limit ? 'warn' : 'edge';
  if (tone === 'bad') return [{ share: 1, tone }];
  return [
    { share: used / limit, tone },
    { share: added / limit, tone: 'ink' },
  ];
}

const clamp = (share: number) => Math.min(1, Math.max(0, share));
