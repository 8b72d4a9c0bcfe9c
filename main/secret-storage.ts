import { safeStorage } from 'electron';

/** Encrypts and decrypts text with a key of the operating system. */
export type Keychain = { seal(text: string): Promise<string>; open(sealed: string): Promise<string> };

/** Null if there is none: on Linux without a keyring, Electron would use a publicly known key. */
export async function openKeychain(platform = process.platform): Promise<Keychain | null> {
  if (!(await safeStorage.isAsyncEncryptionAvailable().catch(() => false))) return null;
  if (platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text') return null;
  return {
    seal: async (text) => (await safeStorage.encryptStringAsync(text)).toString('base64'),
    open: async (sealed) => (await safeStorage.decryptStringAsync(Buffer.from(sealed, 'base64'))).result,
  };
}
