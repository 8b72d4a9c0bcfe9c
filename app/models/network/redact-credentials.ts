/** A text without the names and passwords of its addresses: messages of libraries name the address that failed, a proxy's too. */
export const hiddenCredentials = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"']*(?::[^\s/?#"']*)?@/gi, '$1');
