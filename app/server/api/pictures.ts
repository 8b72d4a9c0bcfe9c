//  Pictures in requests must be base64 data. Nothing is downloaded for clients: remote URLs are refused.

/** Maximum pictures per message. */
export const MAX_PICTURES = 16;

export const NOT_FETCHED = 'pictures are read from data URLs (data:image/png;base64,…); addresses are not fetched';

/** The bytes of a data URL; null for any other URL or invalid base64. */
export function ofDataUrl(address: string): Uint8Array | null {
  const [, data] = /^data:[\w.+-]+\/[\w.+-]+;base64,(.*)$/s.exec(address) ?? [];
  return data === undefined ? null : ofBase64(data);
}

/** null if invalid. */
export function ofBase64(text: string): Uint8Array | null {
  if (text === '' || /[^A-Za-z0-9+/=_\s-]/.test(text)) return null;
  return new Uint8Array(Buffer.from(text, 'base64'));
}
