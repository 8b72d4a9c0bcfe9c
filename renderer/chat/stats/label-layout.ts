type Label = { at: number; width: number };

/** Positions of labels in one row without overlaps or crossing the right edge: each at its own place, or shifted as far as
 *  there is room. The first and last take precedence; labels without room are left out. */
export function labelPlaces(labels: readonly Label[], right: number, gap: number): Map<number, number> {
  const places = new Map<number, number>();
  const last = labels.length - 1;
  const end = labels[last];
  if (!end) return places;
  const lastAt = Math.min(end.at, right - end.width);
  let free = Number.NEGATIVE_INFINITY;
  labels.forEach(({ at, width }, index) => {
    if (index === last) return;
    const place = Math.max(at, free);
    const isFirst = index === 0;
    const room = isFirst ? right - end.width : lastAt;
    if (place + width + gap > room) return;
    places.set(index, place);
    free = place + width + gap;
  });
  const place = Math.max(lastAt, free);
  if (place + end.width <= right) places.set(last, place);
  return places;
}
