import { z } from 'zod';
import { calls } from '../calls.ts';
import { events } from '../events.ts';

let known: string | null = null;

/** A fingerprint of the calls and events: builds with the same one are compatible. A page of another build is told to
 *  reload. */
export function protocolFingerprint(): string {
  known ??= hashOf(JSON.stringify(outliner()({ calls, events })));
  return known;
}

/** Outlines everything in a schema that affects validation; a schema that recurs is replaced by its number. */
export function outliner(): (part: unknown) => unknown {
  const numbers = new Map<z.ZodType, number>();
  const outline = (part: unknown): unknown => {
    if (part instanceof z.ZodType) {
      const number = numbers.get(part);
      if (number !== undefined) return number;
      numbers.set(part, numbers.size);
      return outline(part.def);
    }
    if (part instanceof RegExp || typeof part === 'bigint') return String(part);
    if (Array.isArray(part)) return part.map(outline);
    if (part === null || typeof part !== 'object') return typeof part === 'function' ? 'function' : part;
    // A check (a minimum, a length) has its parameters one level deeper.
    if ('_zod' in part) return outline((part as { _zod: { def: unknown } })._zod.def);
    return Object.entries(part).map(([name, value]) => [name, outline(value)]);
  };
  return outline;
}

/** 53 bits (cyrb53, public domain): not for security, only to tell builds apart. */
function hashOf(text: string): string {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return (4294967296 * (2097151 & high) + (low >>> 0)).toString(36);
}
