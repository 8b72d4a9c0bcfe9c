const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Characters of a piece: parsed in a few milliseconds. */
const PIECE = 128 * 1024;
/** Most values of a piece: one entry may be much longer than that. */
const MAX_VALUES = 200_000;

/** The entries of a large JSON object in objects of about `PIECE` characters, so that other work can be done between them.
 *  Strings are not checked here, but by whoever parses a piece. @throws SyntaxError */
export function* piecesOf(text: string): Generator<string> {
  const whole = text.trim();
  if (whole.charCodeAt(0) !== OBJECT || whole.charCodeAt(whole.length - 1) !== OBJECT_END)
    throw new SyntaxError('this is not a JSON object');
  let [start, depth, values, within] = [1, 0, 0, false];
  for (let at = 1; at < whole.length - 1; at++) {
    const sign = whole.charCodeAt(at);
    if (within) {
      if (sign === BACKSLASH) at++;
      else if (sign === QUOTE) within = false;
    } else if (sign === QUOTE) within = true;
    else if (sign === OBJECT || sign === LIST) depth++;
    else if (sign === OBJECT_END || sign === LIST_END) depth--;
    else if (sign === COMMA) {
      if (++values > MAX_VALUES) throw new SyntaxError(`an entry has more than ${MAX_VALUES} values`);
      if (depth > 0 || at - start < PIECE) continue;
      yield `{${whole.slice(start, at)}}`;
      [start, values] = [at + 1, 0];
    }
  }
  yield `{${whole.slice(start, -1)}}`;
}
