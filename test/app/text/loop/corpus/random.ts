/** A seeded source of choices: the corpus must come out the same on every machine (mulberry32). */
export interface Random {
  next(): number;
  below(limit: number): number;
  between(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
}

export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

export function seeded(name: string): Random {
  let state = hash(name);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: (list) => {
      const chosen = list[below(list.length)];
      if (chosen === undefined) throw new Error('[corpus] pick from an empty list');
      return chosen;
    },
  };
}

/** Writes a pattern out: `{a|b|c}` is one of them each time, `<slot>` is taken from `slots`. */
export function expand(pattern: string, random: Random, slots: Record<string, () => string> = {}): string {
  const filled = pattern.replace(/<(\w+)>/g, (_, name: string) => {
    const slot = slots[name];
    if (!slot) throw new Error(`[corpus] no slot "${name}"`);
    return slot();
  });
  return filled.replace(/\{([^{}]*)\}/g, (_, choices: string) => random.pick(choices.split('|')));
}

export const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
