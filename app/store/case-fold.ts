/** Lower case without accents, unit for unit: `fold(text)[i]` belongs to `text[i]`, so places found in one are places in
 *  the other. */
export function fold(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  let folded = '';
  for (let i = 0; i < text.length; i++) folded += foldUnit(text.charAt(i));
  return folded;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const plain = /^[\x00-\x7f]*$/;

function foldUnit(unit: string): string {
  const base = unit.normalize('NFD').charAt(0).toLowerCase();
  return base.length === 1 ? base : unit;
}
