/** A text without the names and passwords of its addresses: error messages of libraries name the address that failed, a
 *  proxy's too. A password may hold an @: what stands before the last one of an address goes. So does what a proxy says back of
 *  the password it was given. */
export const hiddenCredentials = (text: string): string =>
  secrets.reduce(
    (shown, secret) => shown.replaceAll(secret, '…'),
    text.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"']*@/gi, '$1'),
  );

/** Shorter ones would blank out ordinary words. */
const SHORTEST = 4;
let secrets: string[] = [];

/** Passwords in these addresses are known from now on, and no others: as they are written, as they are meant, and as they are sent. */
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
