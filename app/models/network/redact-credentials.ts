/** A text without the names and passwords of its addresses: error messages of libraries name the address that failed, a
 *  proxy's too. A password may hold an @: what stands before the last one of an address goes. */
export const hiddenCredentials = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"']*@/gi, '$1');
