import { LonghandError } from '../errors.ts';

//  JSON of somebody else. A few megabytes of "[],[],[]" are millions of objects: they take seconds of the thread that reads them,
//  and forty times their size in memory. What is counted is what is made of a text, and it is counted before anything is made.

/** Values that a message may have: ten thousand files with all that is said of each, and more than any conversation. */
export const MAX_VALUES = 200_000;
/** Digits outside of strings: numbers of many digits take longer than all else. */
const MAX_DIGITS = 1_000_000;

/** Brackets within brackets. Whatever goes through a value in steps that call themselves ends with its stack; what is sent from
 *  process to process does so at two thousand. */
export const MAX_DEPTH = 500;

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b, 0x30, 0x39];
const [LIST_END, OBJECT_END] = [0x5d, 0x7d];

export type ValueCount = {
  /** Counts what stands in the next piece of a text. True: it is more than is allowed. */
  exceeded(piece: string): boolean;
  /** A new text begins. */
  reset(): void;
};

/** How many values a JSON text has at most, by its commas and brackets outside of strings, how many digits, and how deep it is. */
export function createValueCount(most = MAX_VALUES): ValueCount {
  let [values, digits, depth, inString, escaped] = [0, 0, 0, false, false];
  return {
    exceeded(piece) {
      // Locals: sixteen megabytes go through here in a few hundredths of a second.
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

/** `JSON.parse` of what came from elsewhere. @throws LonghandError `too-large`, `bad-request` */
export function parseJson(text: string, where: string, most = MAX_VALUES): unknown {
  // A value that is counted has at least its comma or bracket.
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
