import { LonghandError } from './errors.ts';

//  JSON of somebody else. A few megabytes of "[],[],[]" are millions of objects: they take seconds of the thread that reads them,
//  and forty times their size in memory. What is counted is what is made of a text, and it is counted before anything is made.

/** Values that a message may have: ten thousand files with all that is said of each, and more than any conversation. */
export const MAX_VALUES = 200_000;
/** Digits outside of strings: numbers of many digits take longer than all else. */
const MAX_DIGITS = 1_000_000;

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b, 0x30, 0x39];

export type ValueCount = {
  /** Counts what stands in the next piece of a text. True: it is more than is allowed. */
  exceeded(piece: string): boolean;
  /** A new text begins. */
  reset(): void;
};

/** How many values a JSON text has at most, by its commas and brackets outside of strings, and how many digits. */
export function createValueCount(most = MAX_VALUES): ValueCount {
  let [values, digits, inString, escaped] = [0, 0, false, false];
  return {
    exceeded(piece) {
      // Locals: sixteen megabytes go through here in a few hundredths of a second.
      let at = escaped ? 1 : 0;
      let [found, read, within] = [values, digits, inString];
      const end = piece.length;
      while (at < end && found <= most && read <= MAX_DIGITS) {
        let sign = piece.charCodeAt(at++);
        if (within) {
          while (sign !== QUOTE && sign !== BACKSLASH && at < end) sign = piece.charCodeAt(at++);
          if (sign === BACKSLASH) at++;
          else if (sign === QUOTE) within = false;
        } else if (sign >= ZERO && sign <= NINE) read++;
        else if (sign === QUOTE) within = true;
        else if (sign === COMMA || sign === LIST || sign === OBJECT) found++;
      }
      if (end > 0) escaped = at > end;
      [values, digits, inString] = [found, read, within];
      return found > most || read > MAX_DIGITS;
    },
    reset() {
      [values, digits, inString, escaped] = [0, 0, false, false];
    },
  };
}

/** `JSON.parse` of what came from elsewhere. @throws LonghandError `too-large`, `bad-request` */
export function parseJson(text: string, where: string, most = MAX_VALUES): unknown {
  // A value that is counted has at least its comma or bracket.
  if (text.length > most && createValueCount(most).exceeded(text)) {
    throw new LonghandError(
      'too-large',
      `[${where}] has more than ${most.toLocaleString('en')} values or ${MAX_DIGITS.toLocaleString('en')} digits`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LonghandError('bad-request', `[${where}] is no JSON: ${(error as Error).message}`);
  }
}
