/** Lower case without accents, code unit by code unit: `fold(text)[i]` belongs to `text[i]`, so positions in one are positions in
 *  the other. */
export function fold(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    units[i] = folds[unit] || foldUnit(unit);
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Cache of folded code units; 0: not computed yet. Makes other scripts as fast as English. */
const folds = new Uint16Array(2 ** 16);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const plain = /^[\x00-\x7f]*$/;

function foldUnit(unit: number): number {
  const base = String.fromCharCode(unit).normalize('NFD').charAt(0).toLowerCase();
  const folded = base.length === 1 ? base.charCodeAt(0) : unit;
  folds[unit] = folded;
  return folded;
}
