import { LonghandError } from '../errors.ts';

//  Parsing of untrusted JSON. A few megabytes of "[],[],[]" are millions of objects: they block the thread for seconds
//  and take forty times their size in memory. So values are counted before anything is parsed.

/** Maximum values per message: enough for ten thousand files with metadata, and for any conversation. */
export const MAX_VALUES = 200_000;
/** Digits outside strings: long numbers are the slowest to parse. */
const MAX_DIGITS = 1_000_000;

/** Maximum nesting. Recursive functions overflow the stack on deeper values; structured clone between
 *  processes does so at two thousand. */
export const MAX_DEPTH = 500;

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b, 0x30, 0x39];
const [LIST_END, OBJECT_END] = [0x5d, 0x7d];

export type ValueCount = {
  /** Counts the next piece of a text. True: over the limit. */
  exceeded(piece: string): boolean;
  /** Starts a new text. */
  reset(): void;
};

/** An upper bound on the values of a JSON text, from commas and brackets outside strings; also counts digits and nesting. */
export function createValueCount(most = MAX_VALUES): ValueCount {
  let [values, digits, depth, inString, escaped] = [0, 0, 0, false, false];
  return {
    exceeded(piece) {
      // Local variables for speed: sixteen megabytes take a few hundredths of a second.
      let at = escaped ? 1 : 0;
      let [found, read, deep, within] = [values, digits, depth, inString];
      const end = piece.length;
      while (at < end && found <= most && read <= MAX_DIGITS && deep <= MAX_DEPTH) {
        let sign = piece.charCodeAt(at++);
        if (within) {
          while (sign !== QUOTE && sign !== BACKSLASH && at < end) sign = piece.charCodeAt(at++);
          if (sign === BACKSLASH) at++;
          else if (sign === QUOTE) within = false;
        } else if (sign >= ZERO && sign <= NINE) read++;
        else if (sign === QUOTE) within = true;
        else if (sign === COMMA) found++;
        else if (sign === LIST || sign === OBJECT) {
          found++;
          deep++;
        } else if (sign === LIST_END || sign === OBJECT_END) deep--;
      }
      if (end > 0) escaped = at > end;
      [values, digits, depth, inString] = [found, read, deep, within];
      return found > most || read > MAX_DIGITS || deep > MAX_DEPTH;
    },
    reset() {
      [values, digits, depth, inString, escaped] = [0, 0, 0, false, false];
    },
  };
}

/** `JSON.parse` for untrusted text. @throws LonghandError `too-large`, `bad-request` */
export function parseJson(text: string, where: string, most = MAX_VALUES): unknown {
  // Every counted value has at least a comma or bracket.
  if (text.length > Math.min(most, MAX_DEPTH) && createValueCount(most).exceeded(text)) {
    throw new LonghandError(
      'too-large',
      `[${where}] has more than ${most.toLocaleString('en')} values, ${MAX_DIGITS.toLocaleString('en')} digits or ${MAX_DEPTH} levels`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LonghandError('bad-request', `[${where}] is not JSON: ${(error as Error).message}`);
  }
}
