/** Lower-case text of the same length, so that positions are preserved: only "İ" becomes two characters in lower case and
 *  would shift all that follow. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (sign) => {
    const small = sign.toLowerCase();
    return small.length === sign.length ? small : small.slice(0, sign.length);
  }).join('');
}
