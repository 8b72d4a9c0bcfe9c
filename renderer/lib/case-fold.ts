/** Text in lower case, of the same length, so that places in it are places in the text: "İ" alone becomes two characters
 *  in lower case, and would move all that follow. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (sign) => {
    const small = sign.toLowerCase();
    return small.length === sign.length ? small : small.slice(0, sign.length);
  }).join('');
}
