import type { Place, Rectangle, Span } from '../../protocol/index.ts';

//  Compact encoding of spans: a passage has hundreds, one per word. Integers as zigzag varints (7 bits per byte, low ones first),
//  each relative to the one it follows; coordinates in twentieths of a point.

const GRAIN = 20;

export function packSpans(spans: readonly Span[]): Uint8Array {
  const writer = createWriter();
  let at = 0;
  let page = 0;
  let last: Rectangle = [0, 0, 0, 0];
  for (const { start, end, place } of spans) {
    writer.whole(start - at);
    writer.whole(end - start);
    at = end;
    if (place.kind !== 'page') {
      writer.whole(-1);
      writer.text(JSON.stringify(place));
      continue;
    }
    writer.whole(place.rectangles.length);
    writer.whole(place.page - page);
    page = place.page;
    for (const box of place.rectangles) {
      const rounded = box.map((value) => Math.round(value * GRAIN)) as Rectangle;
      for (const [side, value] of rounded.entries()) writer.whole(value - (last[side] ?? 0));
      last = rounded;
    }
  }
  return writer.bytes();
}

export function unpackSpans(bytes: Uint8Array): Span[] {
  const reader = createReader(bytes);
  const spans: Span[] = [];
  let at = 0;
  let page = 0;
  let last: Rectangle = [0, 0, 0, 0];
  while (!reader.ended()) {
    const start = at + reader.whole();
    const end = start + reader.whole();
    at = end;
    const count = reader.whole();
    if (count < 0) {
      spans.push({ start, end, place: placeOf(JSON.parse(reader.text())) });
      continue;
    }
    page += reader.whole();
    const rectangles = Array.from({ length: count }, () => {
      last = last.map((value) => value + reader.whole()) as Rectangle;
      return last.map((value) => value / GRAIN) as Rectangle;
    });
    spans.push({ start, end, place: { kind: 'page', page, rectangles } });
  }
  return spans;
}

/** Versions up to 14 of the database said `at` where it says `kind` now. */
function placeOf({ at, ...place }: { at?: string }): Place {
  return (at === undefined ? place : { kind: at, ...place }) as Place;
}

function createWriter() {
  const out: number[] = [];
  const whole = (value: number) => {
    // Zigzag: small numbers of either sign take one byte. No bit operations: they end at 32 bits.
    let rest = value >= 0 ? value * 2 : -value * 2 - 1;
    for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
    out.push(rest);
  };
  return {
    whole,
    text(text: string) {
      const bytes = Buffer.from(text);
      whole(bytes.length);
      for (const byte of bytes) out.push(byte);
    },
    bytes: () => Uint8Array.from(out),
  };
}

function createReader(bytes: Uint8Array) {
  let at = 0;
  const whole = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte % 128) * scale;
      if (byte < 128) break;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  return {
    whole,
    text() {
      const length = whole();
      at += length;
      return Buffer.from(bytes.subarray(at - length, at)).toString();
    },
    ended: () => at >= bytes.length,
  };
}
