/** Text with its matches marked. Ranges are [start, end) in characters, in order. */
export function Highlighted({ text, ranges }: { text: string; ranges: readonly (readonly [number, number])[] }) {
  const parts = ranges.map(([start, end], index) => ({
    before: text.slice(ranges[index - 1]?.[1] ?? 0, start),
    found: text.slice(start, end),
    at: start,
  }));
  return (
    <>
      {parts.map((part) => (
        <span key={part.at}>
          {part.before}
          <mark className="bg-transparent font-semibold text-ink-text">{part.found}</mark>
        </span>
      ))}
      {text.slice(ranges.at(-1)?.[1] ?? 0)}
    </>
  );
}
