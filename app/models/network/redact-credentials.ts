/** Removes user names and passwords from URLs in a text: error messages of libraries contain the URL that failed, a
 *  proxy's too. A password may contain an @: everything before the last one is removed. So are known passwords that a proxy
 *  echoes. */
export const hiddenCredentials = (text: string): string =>
  secrets.reduce(
    (shown, secret) => shown.replaceAll(secret, '…'),
    text.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"']*@/gi, '$1'),
  );

/** Shorter passwords would also match ordinary words. */
const SHORTEST = 4;
let secrets: string[] = [];

/** Sets the known passwords from these URLs: as written, decoded, and Base64-encoded as sent. */
export function hidePasswordsOf(addresses: readonly (string | null | undefined)[]): void {
  secrets = addresses.flatMap(passwordsIn).filter((secret) => secret.length >= SHORTEST);
}

function passwordsIn(address: string | null | undefined): string[] {
  if (!address || !URL.canParse(address)) return [];
  const { username, password } = new URL(address);
  if (password === '') return [];
  const [name, meant] = [meaningOf(username), meaningOf(password)];
  return [Buffer.from(`${name}:${meant}`).toString('base64'), password, meant];
}

function meaningOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone percent sign means itself
  }
}
