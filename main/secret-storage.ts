import { safeStorage } from 'electron';

/** Seals and opens texts with a key of the operating system. Null where there is none: on Linux without a keyring Electron
 *  would use a key that everybody knows. */
export type Keychain = { seal(text: string): string; open(sealed: string): string };

export function openKeychain(platform = process.platform): Keychain | null {
  if (!safeStorage.isEncryptionAvailable()) return null;
  if (platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text') return null;
  return {
    seal: (text) => safeStorage.encryptString(text).toString('base64'),
    open: (sealed) => safeStorage.decryptString(Buffer.from(sealed, 'base64')),
  };
}
